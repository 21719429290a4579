// From what a worker said to what the journal keeps and a person reads.
#include "harness/supervisor/launch_state.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

const Case kLoad{.name = "load.x", .claim = "c", .cites = "c"};
const Case kTogether{.name = "gemm.x", .claim = "c", .cites = "c", .scope = CaseScope::all_gpus};

TelemetryPoint no_telemetry(double) { return {}; }

TEST(Replay, names_case_seed_row_and_gpu) {
  const RecordPlace place{.uuid = "GPU-5f", .seed = 0x1f2e, .device = DeviceKind::cuda};
  EXPECT_EQ(replay_line(place, kLoad, 7),
            "tidemark run --cases load.x --seed 0x1f2e --row 7 --gpus GPU-5f");
}

TEST(Replay, without_a_row_runs_all_rows) {
  const RecordPlace place{.uuid = "GPU-5f", .seed = 1, .device = DeviceKind::cuda};
  EXPECT_EQ(replay_line(place, kLoad, -1), "tidemark run --cases load.x --seed 0x1 --gpus GPU-5f");
}

TEST(Replay, has_the_driver_compile_again) {
  const RecordPlace place{
      .uuid = "GPU-5f", .seed = 1, .device = DeviceKind::cuda, .options = {.jit = true}};
  EXPECT_EQ(replay_line(place, kLoad, -1),
            "tidemark run --cases load.x --seed 0x1 --jit --gpus GPU-5f");
}

TEST(Replay, names_the_virtual_device_its_fault_and_the_level) {
  const RecordPlace place{.uuid = "virtual-0-0",
                          .seed = 1,
                          .options = {.level = Level::nightly, .fault = "chunk_dropped"}};
  EXPECT_EQ(replay_line(place, kLoad, 0),
            "tidemark run --cases load.x --seed 0x1 --level nightly --row 0 --device virtual "
            "--fault chunk_dropped");
}

TEST(Replay, starts_all_slots_of_a_case_of_all_gpus) {
  const RecordPlace alone{.gpus = 4, .uuid = "v", .seed = 1};
  EXPECT_EQ(replay_line(alone, kTogether, -1),
            "tidemark run --cases gemm.x --seed 0x1 --device virtual --gpus 4");
  const RecordPlace launched{
      .gpus = 8, .uuid = "GPU-1", .seed = 1, .device = DeviceKind::cuda, .launched = true};
  EXPECT_EQ(replay_line(launched, kTogether, -1),
            "mpirun -n 8 tidemark run --cases gemm.x --seed 0x1");
}

TEST(Replay, names_the_transport_where_panels_travel) {
  Case product = kTogether;
  product.product = ProductUse::route;
  const RecordPlace place{.gpus = 2, .seed = 1, .options = {.transport = PanelRoute::relay}};
  EXPECT_EQ(replay_line(place, product, -1),
            "tidemark run --cases gemm.x --seed 0x1 --transport mpi --device virtual --gpus 2");
  EXPECT_EQ(replay_line(place, kTogether, -1).find("--transport"), std::string::npos);
}

TEST(Replay, names_sizes_and_grid_where_a_case_follows_them) {
  Case product = kTogether;
  product.product = ProductUse::sizes;
  const RecordPlace place{.gpus = 2,
                          .seed = 1,
                          .options = {.product = {.shape = {.m = 64, .n = 64, .k = 64},
                                                  .grid = {.rows = 2, .cols = 1}}}};
  EXPECT_EQ(replay_line(place, product, 3),
            "tidemark run --cases gemm.x --seed 0x1 --row 3 --n 64 --grid 2x1 --device virtual "
            "--gpus 2");
  product.product = ProductUse::route;
  EXPECT_EQ(replay_line(place, product, -1),
            "tidemark run --cases gemm.x --seed 0x1 --grid 2x1 --device virtual --gpus 2");
}

TEST(OutcomeRecord, of_a_run_of_one_row_replays_that_row) {
  const OutcomeRecord record =
      outcome_record({.options = {.row = 3}}, kLoad, 1, {.verdict = Verdict::hang},
                     [](double) { return TelemetryPoint{}; });
  EXPECT_NE(record.replay.find(" --row 3"), std::string::npos) << record.replay;
}

TEST(OutcomeRecord, of_a_worker_that_died_has_the_rows_it_was_heard_of) {
  const Ending ending{
      .verdict = Verdict::crash, .reason = "died", .rows_planned = 9, .rows_run = 8};
  const OutcomeRecord record = outcome_record({.uuid = "v"}, kLoad, 1, ending, no_telemetry);
  EXPECT_EQ(record.rows_planned, 9U);
  EXPECT_EQ(record.rows_run, 8U);
}

TEST(OutcomeRecord, replays_the_row_that_its_worker_ended_in) {
  Ending ending{.verdict = Verdict::crash, .reason = {}, .outcome = Outcome{}, .row = 5};
  ending.outcome->miscompares.emplace_back().row = 1;
  const OutcomeRecord record = outcome_record({.uuid = "v"}, kLoad, 1, ending, no_telemetry);
  EXPECT_NE(record.replay.find("--row 5"), std::string::npos) << record.replay;
}

TEST(OutcomeRecord, takes_everything_from_the_outcome) {
  Ending ending{.verdict = Verdict::fail, .reason = "wrong", .outcome = Outcome{}};
  ending.start_unix_s = 100;
  ending.seconds = 2;
  ending.outcome->rows_planned = 9;
  ending.outcome->rows_run = 8;
  ending.outcome->rows_failed = 7;
  ending.outcome->sm_rows_run = {8, 3};
  ending.outcome->sm_rows_failed = {7};
  ending.outcome->cuda_error = 6;
  ending.outcome->descriptors = 5;
  ending.outcome->notes = {"n"};
  ending.outcome->miscompares.push_back({.row = 4,
                                         .parameters = "p",
                                         .what = "byte",
                                         .coordinate = {1, 2, 3, 4, 5},
                                         .first_offset = 10,
                                         .wrong_bytes = 11,
                                         .expected = 12,
                                         .actual = 13,
                                         .text = "t"});
  const RecordPlace place{.gpu = 3, .gpus = 4, .uuid = "v", .seed = 1};
  const OutcomeRecord record = outcome_record(place, kLoad, 2, ending, no_telemetry);
  EXPECT_EQ(record.gpu, 3U);
  EXPECT_EQ(record.case_name, "load.x");
  EXPECT_EQ(record.attempt, 2U);
  EXPECT_EQ(record.verdict, Verdict::fail);
  EXPECT_EQ(record.reason, "wrong");
  EXPECT_EQ(record.start_unix_s, 100);
  EXPECT_EQ(record.seconds, 2);
  EXPECT_EQ(record.rows_planned, 9U);
  EXPECT_EQ(record.rows_run, 8U);
  EXPECT_EQ(record.rows_failed, 7U);
  EXPECT_EQ(record.sm_rows_run, (std::vector<std::uint32_t>{8, 3}));
  EXPECT_EQ(record.sm_rows_failed, std::vector<std::uint32_t>{7});
  EXPECT_EQ(record.cuda_error, 6);
  EXPECT_EQ(record.descriptors, 5U);
  EXPECT_EQ(record.notes, std::vector<std::string>{"n"});
  EXPECT_EQ(record.seed, case_seed(1, "load.x"));
  EXPECT_NE(record.replay.find("--row 4 "), std::string::npos) << record.replay;
  ASSERT_EQ(record.miscompares.size(), 1U);
  const MiscompareRecord& wrong = record.miscompares[0];
  EXPECT_EQ(wrong.row, 4U);
  EXPECT_EQ(wrong.parameters, "p");
  EXPECT_EQ(wrong.what, "byte");
  EXPECT_EQ(wrong.text, "t");
  EXPECT_EQ(wrong.coordinate, (std::array<std::int64_t, 5>{1, 2, 3, 4, 5}));
  EXPECT_EQ(wrong.first_offset, 10U);
  EXPECT_EQ(wrong.wrong_bytes, 11U);
  EXPECT_EQ(wrong.expected, 12U);
  EXPECT_EQ(wrong.actual, 13U);
}

TEST(OutcomeRecord, gives_each_sample_the_reading_of_its_own_moment) {
  Ending ending{.verdict = Verdict::pass, .reason = {}, .outcome = Outcome{}};
  ending.outcome->metrics.push_back({.name = "rate",
                                     .unit = "TFLOP/s",
                                     .values = {1, 2},
                                     .at_unix_s = {10, 20},
                                     .seconds = {0.1, 0.2}});
  const OutcomeRecord record = outcome_record({.uuid = "v"}, kLoad, 1, ending, [](double at) {
    return TelemetryPoint{.at_unix_s = at + 0.5, .sm_mhz = static_cast<float>(at)};
  });
  ASSERT_EQ(record.metrics.size(), 1U);
  ASSERT_EQ(record.metrics[0].samples.size(), 2U);
  const SampleRecord& second = record.metrics[0].samples[1];
  EXPECT_EQ(second.value, 2);
  EXPECT_EQ(second.seconds, 0.2);
  EXPECT_EQ(second.telemetry.sm_mhz, 20);
  EXPECT_EQ(second.telemetry.at_unix_s, 20);
}

TEST(Trouble, says_where_what_what_next_and_how_to_replay) {
  OutcomeRecord record;
  record.case_name = "load.x";
  record.verdict = Verdict::crash;
  record.reason = "the worker died by signal 11";
  record.replay = "tidemark run --cases load.x";
  EXPECT_EQ(trouble_text(record, "slot 2 (node07, GPU-5f)", DeviceKind::cuda, false),
            " CRASH load.x                       slot 2 (node07, GPU-5f)\n"
            "      the worker died by signal 11\n"
            "      next: look for an Xid of this moment in the kernel log, then replay it\n"
            "      replay: tidemark run --cases load.x");
}

TEST(Trouble, of_a_pass_behind_an_attempt_that_says_nothing_is_not_flaky) {
  OutcomeRecord record;
  record.case_name = "load.x";
  record.attempt = 2;
  record.verdict = Verdict::pass;
  EXPECT_EQ(trouble_text(record, "slot 2", DeviceKind::cuda, true),
            " pass load.x                       slot 2  passed in attempt 2");
  record.verdict = Verdict::flaky;
  EXPECT_EQ(trouble_text(record, "slot 2", DeviceKind::cuda, false),
            " FLAKY load.x                       slot 2  passed in attempt 2");
}

TEST(OutcomeRecord, of_a_hang_of_several_ranks_replays_all_rows) {
  Ending ending{.verdict = Verdict::hang, .reason = {}, .outcome = Outcome{}};
  ending.outcome->miscompares.emplace_back().row = 5;
  const OutcomeRecord record = outcome_record({.gpus = 4}, kTogether, 1, ending, no_telemetry);
  EXPECT_EQ(record.replay.find(" --row"), std::string::npos) << record.replay;
}

TEST(OutcomeRecord, of_a_fail_of_several_ranks_replays_its_row) {
  Ending ending{.verdict = Verdict::fail, .reason = {}, .outcome = Outcome{}};
  ending.outcome->miscompares.emplace_back().row = 5;
  const OutcomeRecord record = outcome_record({.gpus = 4}, kTogether, 1, ending, no_telemetry);
  EXPECT_NE(record.replay.find(" --row 5"), std::string::npos) << record.replay;
}

TEST(Trouble, of_the_machine_is_no_bug_on_a_virtual_device_either) {
  OutcomeRecord record;
  record.verdict = Verdict::tool_error;
  for (const DeviceKind device : {DeviceKind::cuda, DeviceKind::virtual_device})
    EXPECT_NE(trouble_text(record, "", device, false).find("repair the cause and run again"),
              std::string::npos);
}

TEST(Trouble, of_a_virtual_device_sends_nobody_to_the_kernel_log) {
  OutcomeRecord record;
  record.verdict = Verdict::hang;
  const std::string text = trouble_text(record, "", DeviceKind::virtual_device, false);
  EXPECT_EQ(text.find("Xid"), std::string::npos) << text;
  EXPECT_NE(text.find("no GPU ran this"), std::string::npos) << text;
}

TEST(Trouble, is_red_only_when_asked) {
  OutcomeRecord record;
  record.verdict = Verdict::fail;
  EXPECT_NE(trouble_text(record, "", DeviceKind::cuda, true).find("\x1b[31mFAIL\x1b[0m"),
            std::string::npos);
  EXPECT_EQ(trouble_text(record, "", DeviceKind::cuda, false).find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace tidemark
