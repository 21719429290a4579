// Whole launches of the built program on the virtual device, with and without mpirun, and what is
// left when something is killed.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/testing/launch_place.hpp"
#include "reports/export/export.hpp"
#include "reports/journal/journal.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

TEST(Launch, passes_on_one_virtual_device_and_leaves_only_the_report) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--cases", "load.tile.rank?"}));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("VIRTUAL"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("5 cases x 1 gpus: 5 pass = 5 planned"), std::string::npos) << ran.out;
  EXPECT_EQ(place.files(), std::vector<std::string>{"r.h5"});
  const Report report = read_report(place.out());
  EXPECT_TRUE(report.launch.complete) << report.launch.incomplete_reason;
  EXPECT_EQ(report.launch.seed, 7U);
  EXPECT_EQ(report.results.size(), 5U);
  EXPECT_GT(report.results[0].rows_run, 0U);
}

TEST(Launch, one_supervisor_drives_several_devices_and_the_gemm_over_them) {
  const Place place;
  const Ran ran = run_binary(run_arguments(
      place, {"--gpus", "3", "--cases", "gemm.distributed.integer", "--cases", "zfill.whole"}));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_EQ(report.launch.gpus, 3U);
  EXPECT_EQ(report.launch.ranks_expected, 1U);
  EXPECT_EQ(report.results.size(), 6U);
}

TEST(Launch, notes_once_a_case_how_panels_travel) {
  const Place place;
  const Ran ran = run_binary(run_arguments(
      place, {"--gpus", "2", "--cases", "gemm.distributed.shapes", "--transport", "mpi"}));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Report report = read_report(place.out());
  for (const ResultRow& result : report.results) {
    const std::string notes(report.text(result.notes));
    const std::size_t at = notes.find("panels by ");
    ASSERT_NE(at, std::string::npos) << notes;
    EXPECT_EQ(at, notes.find("panels by mpi: the virtual device knows no other route")) << notes;
    EXPECT_EQ(notes.find("panels by ", at + 1), std::string::npos) << notes;
  }
}

TEST(Launch, refuses_a_transport_that_the_device_does_not_know_or_no_case_has) {
  const Place place;
  Ran ran = run_binary(
      run_arguments(place, {"--cases", "gemm.distributed.shapes", "--transport", "nccl"}));
  EXPECT_EQ(ran.exit, 2) << ran.out;
  EXPECT_EQ(
      ran.err,
      "tidemark: --transport 'nccl': the virtual device knows only mpi; give mpi, or leave it "
      "out\n");
  ran = run_binary({"run", "--device", "cuda", "--dry-run", "--transport", "mpi"});
  EXPECT_EQ(ran.exit, 2) << ran.out;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  ran = run_binary(run_arguments(place, {"--cases", "zfill.whole", "--transport", "mpi"}));
  EXPECT_EQ(ran.exit, 2) << ran.out;
  EXPECT_EQ(ran.err,
            "tidemark: --transport mpi: no case of this run is a distributed GEMM; choose one by "
            "--cases\n");
  EXPECT_TRUE(place.files().empty());
}

TEST(Launch, refuses_products_that_are_none_or_change_nothing) {
  const Place place;
  const auto refused = [&](const Arguments& more) {
    const Ran ran = run_binary(run_arguments(place, more));
    EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    return ran.err;
  };
  EXPECT_EQ(refused({"--cases", "gemm.distributed.speed", "--k", "64"}),
            "tidemark: --k '64': give --n, too: a product without it has its usual sizes\n");
  EXPECT_EQ(refused({"--cases", "gemm.distributed.speed", "--n", "0"}),
            "tidemark: --n '0': give a whole number, 1 to 1048576\n");
  EXPECT_EQ(refused({"--cases", "gemm.distributed.shapes", "--n", "64"}),
            "tidemark: --n 64: no case of this run takes sizes, as gemm.distributed.speed and "
            "gemm.distributed.integer do; choose one by --cases\n");
  EXPECT_EQ(refused({"--cases", "zfill.whole", "--grid", "1x1"}),
            "tidemark: --grid 1x1: no case of this run is a distributed GEMM; choose one by "
            "--cases\n");
  EXPECT_EQ(refused({"--cases", "gemm.distributed.speed", "--gpus", "3", "--grid", "2x2"}),
            "tidemark: --grid '2x2': has 4 places for 3 GPUs; give rows and columns that multiply "
            "to 3\n");
  EXPECT_EQ(refused({"--cases", "gemm.distributed.speed", "--ranks", "3", "--grid", "2x2"}),
            "tidemark: --grid '2x2': has 4 places for 3 GPUs; give rows and columns that multiply "
            "to 3\n");
  // Of the device A and B, 2 TiB each, and C in fp32, 4 TiB; of the host C in bf16 and in fp32.
  const std::string large = refused({"--cases", "gemm.distributed.speed", "--n", "1048576"});
  EXPECT_EQ(large.rfind("tidemark: --n 1048576: 14336.0 GiB of host memory, but ", 0), 0U) << large;
  EXPECT_TRUE(place.files().empty());
}

TEST(Launch, says_one_line_of_json) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--json", "--cases", "load.tile.rank1"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(std::count(ran.out.begin(), ran.out.end(), '\n'), 1) << ran.out;
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << ran.out;
  EXPECT_EQ(json.at("result"), "PASS");
  EXPECT_EQ(json.at("report"), place.out());
  EXPECT_EQ(json.at("verdicts").at("pass"), 1);
  EXPECT_EQ(json.at("device"), "virtual");
}

TEST(Launch, a_dry_run_leaves_nothing) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--dry-run", "--cases", "load.tile.rank1"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("load.tile.rank1"), std::string::npos);
  EXPECT_TRUE(place.files().empty());
}

TEST(Launch, refuses_a_report_that_exists_before_anything_runs) {
  const Place place;
  std::ofstream(place.out()) << "mine";
  const Ran ran = run_binary(run_arguments(place, {"--cases", "load.tile.rank1"}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("exists; choose another name"), std::string::npos) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_EQ(std::filesystem::file_size(place.out()), 4U);
}

TEST(Launch, a_fault_is_a_fail_in_three_attempts_with_a_replay_line) {
  const Place place;
  const Ran ran = run_binary(
      run_arguments(place, {"--cases", "load.tile.rank2", "--fault", "load_last_row_missing"}));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("replay: tidemark run --cases load.tile.rank2 --seed 0x7 --row "),
            std::string::npos)
      << ran.out;
  const Report report = read_report(place.out());
  ASSERT_EQ(report.results.size(), 1U);
  EXPECT_EQ(report.results[0].verdict, Verdict::fail);
  EXPECT_EQ(report.results[0].attempts, 3U);
  EXPECT_FALSE(report.miscompares.empty());
}

TEST(Launch, prints_a_case_that_fails_on_two_gpus_once_and_counts_its_results) {
  const Place place;
  const Ran ran = run_binary(run_arguments(
      place, {"--cases", "load.tile.rank2", "--fault", "load_last_row_missing", "--gpus", "2"}));
  EXPECT_NE(ran.out.find("FAIL load.tile.rank2"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("FAIL load.tile.rank2"), ran.out.rfind("FAIL load.tile.rank2"));
  EXPECT_NE(ran.out.find(" 2 results of 1 case did not pass, on GPUs 0-1: tidemark show "),
            std::string::npos)
      << ran.out;
}

TEST(Launch, prints_at_the_end_no_family_that_was_only_skipped) {
  const Place place;
  const Ran ran = run_binary(run_arguments(
      place, {"--cases", "load.tile.rank2,peer.load", "--fault", "load_last_row_missing"}));
  EXPECT_NE(ran.out.find("\n  load "), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("\n  peer "), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find(" 1 result of 1 case did not pass, on GPU 0: tidemark show "),
            std::string::npos)
      << ran.out;
}

TEST(Launch, rows_that_fail_are_counted_by_sm) {
  const Place place;
  run_binary(
      run_arguments(place, {"--cases", "load.tile.rank2", "--fault", "load_last_row_missing"}));
  const Report report = read_report(place.out());
  ASSERT_FALSE(report.sms.empty());
  std::uint32_t most = 0;
  for (const SmRow& row : report.sms) most = std::max(most, row.rows_failed);
  EXPECT_GT(most, 0U);
  EXPECT_LE(most, report.results.at(0).rows_failed);
}

TEST(Launch, a_case_that_fails_once_is_flaky) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--cases", "load.tile.rank1"}),
                             with_hook("fail@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_EQ(report.results.at(0).verdict, Verdict::flaky);
}

TEST(Launch, a_hang_is_a_verdict_and_the_next_case_runs) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"}),
                 with_hook("hang@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_TRUE(report.launch.complete);
  const auto results = results_of(report);
  EXPECT_EQ(results.at("load.tile.rank1@0")->verdict, Verdict::hang);
  EXPECT_EQ(results.at("zfill.whole@0")->verdict, Verdict::pass);
}

TEST(Launch, gpus_that_wait_in_vain_hang_where_none_is_stuck) {
  const Place place;
  // GPU 2 says that it failed and sends nothing.
  const Ran ran =
      run_binary(run_arguments(place, {"--gpus", "3", "--cases", "gemm.distributed.integer"}),
                 with_hook("fail@gemm.distributed.integer#2 impatient@gemm.distributed.integer"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  for (const char* waiter : {"0", "1"}) {
    const ResultRow& row = *results.at(std::string("gemm.distributed.integer@") + waiter);
    EXPECT_EQ(row.verdict, Verdict::hang);
    EXPECT_NE(report.text(row.reason).find("waits for GPU"), std::string::npos)
        << report.text(row.reason);
  }
}

TEST(Launch, a_stop_before_a_stuck_gpu_is_known_blames_none_that_waited) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--gpus", "2", "--cases", "gemm.distributed.integer"})),
      with_hook("minute@gemm.distributed.integer#1 impatient@gemm.distributed.integer#0"));
  ASSERT_TRUE(appears(place.journals(), R"("gpu":1,"case":"gemm.distributed.integer")"));
  // Both are there, then GPU 0's leaves, since it has waited; GPU 1 is still busy then.
  for (const std::size_t workers : {2U, 1U})
    for (int i = 0; i < 3000 && descendants(running.pid, "__worker").size() != workers; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // the supervisor reads what it said
  ::kill(running.pid, SIGTERM);
  const Ran ran = finish_program(running);
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  const ResultRow& waiter = *results.at("gemm.distributed.integer@0");
  EXPECT_EQ(waiter.verdict, Verdict::not_run) << ran.out << ran.err;
  EXPECT_NE(report.text(waiter.reason).find("waits for GPU 1"), std::string::npos)
      << report.text(waiter.reason);
  EXPECT_EQ(results.at("gemm.distributed.integer@1")->verdict, Verdict::not_run);
}

TEST(Launch, a_worker_killed_from_outside_twice_is_a_tool_error_and_drains_nothing) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--cases", "load.tile.rank1", "zfill.whole"}),
                             with_hook("kill@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  Report report = read_report(place.out());
  EXPECT_TRUE(report.launch.complete);
  const auto results = results_of(report);
  EXPECT_EQ(results.at("load.tile.rank1@0")->verdict, Verdict::tool_error);
  EXPECT_EQ(results.at("load.tile.rank1@0")->attempts, 2U);
  EXPECT_EQ(results.at("load.tile.rank1@0")->signal, SIGKILL);
  EXPECT_EQ(results.at("zfill.whole@0")->verdict, Verdict::pass);
  report.launch.is_virtual = false;  // a list for draining is of GPUs alone
  report.provenance.clear();         // and of no test hook's victims
  EXPECT_EQ(drain_of(report).text, "");
}

TEST(Launch, a_worker_killed_from_outside_once_costs_no_result) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--cases", "gemm.local.speed"}),
                             with_hook("kill_once@gemm.local.integer"));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.out.find("FLAKY"), std::string::npos) << ran.out;
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(results.at("gemm.local.integer@0")->verdict, Verdict::pass);
  EXPECT_EQ(results.at("gemm.local.integer@0")->attempts, 2U);
  EXPECT_EQ(results.at("gemm.local.speed@0")->verdict, Verdict::pass);
}

TEST(Launch, a_worker_killed_from_outside_once_costs_no_result_of_a_case_of_all_gpus) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--gpus", "2", "--cases", "gemm.distributed.integer"}),
                 with_hook("kill_once@gemm.distributed.integer#1"));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Report report = read_report(place.out());
  for (const ResultRow& result : report.results) {
    EXPECT_EQ(result.verdict, Verdict::pass) << report.text(result.reason);
    EXPECT_EQ(result.attempts, 2U);
  }
}

TEST(Launch, a_crash_that_does_not_return_is_flaky) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--cases", "load.tile.rank1"}),
                             with_hook("crash_once@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const ResultRow& result = *results_of(report).at("load.tile.rank1@0");
  EXPECT_EQ(result.verdict, Verdict::flaky);
  EXPECT_EQ(result.attempts, 2U);
  EXPECT_EQ(result.signal, SIGSEGV);
  const std::string reason(report.text(result.reason));
  EXPECT_NE(reason.find("attempt 1: the worker died by signal 11"), std::string::npos) << reason;
}

TEST(Launch, sigterm_leaves_an_incomplete_report) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"})),
      with_hook("minute@zfill.whole"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"outcome")"));
  ::kill(running.pid, SIGTERM);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_FALSE(report.launch.complete);
  EXPECT_NE(report.launch.incomplete_reason.find("SIGTERM"), std::string::npos)
      << report.launch.incomplete_reason;
  const auto results = results_of(report);
  EXPECT_EQ(results.at("load.tile.rank1@0")->verdict, Verdict::pass);
  EXPECT_EQ(results.at("zfill.whole@0")->verdict, Verdict::not_run);
  ASSERT_FALSE(report.events.empty());
  EXPECT_EQ(report.events.back().code, SIGTERM);
}

TEST(Launch, the_time_limit_leaves_an_incomplete_report) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--time-limit", "1", "--cases", "load.tile.rank1"}),
                 with_hook("minute@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  const Report report = read_report(place.out());
  EXPECT_NE(report.launch.incomplete_reason.find("time limit of 1 s"), std::string::npos)
      << report.launch.incomplete_reason;
}

TEST(Launch, a_killed_supervisor_leaves_the_reporters_report_and_no_worker) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"})),
      with_hook("minute@zfill.whole"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"outcome")"));
  const std::vector<pid_t> workers = descendants(running.pid, "__worker");
  std::ofstream(place.out() + ".tmp." + std::to_string(running.pid)) << "half a report";
  std::ofstream(place.out()).close();  // took the name, on a file system without hard links
  ::kill(running.pid, SIGKILL);
  EXPECT_EQ(finish_program(running).exit, 128 + SIGKILL);
  const auto is_written = [&place] {
    std::error_code none_yet;
    const std::uintmax_t bytes = std::filesystem::file_size(place.out(), none_yet);
    return !none_yet && bytes > 0;
  };
  for (int i = 0; i < 1000 && !is_written(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const Report report = read_report(place.out());
  EXPECT_FALSE(report.launch.complete);
  EXPECT_NE(report.launch.incomplete_reason.find("rank 0 was gone"), std::string::npos)
      << report.launch.incomplete_reason;
  EXPECT_EQ(results_of(report).at("load.tile.rank1@0")->verdict, Verdict::pass);
  EXPECT_FALSE(report.sms.empty()) << "rows by SM are in the journal, too";
  for (const pid_t worker : workers) EXPECT_TRUE(ends(worker)) << worker;
  EXPECT_EQ(place.files(), (std::vector<std::string>{"r.h5", "r.h5.run"}));
}

TEST(Launch, a_stopped_reporter_does_not_stay_behind) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--cases", "zfill.whole"})), with_hook("slow@zfill.whole"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"start")"));
  std::vector<pid_t> reporters;  // before it is one, its words are those of the run
  for (int i = 0; i < 500 && reporters.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    reporters = descendants(running.pid, "__reporter");
  }
  ASSERT_EQ(reporters.size(), 1U);
  ::kill(reporters[0], SIGSTOP);
  EXPECT_EQ(finish_program(running).exit, 0);
  const bool ended = ends(reporters[0]);
  ::kill(reporters[0], SIGKILL);
  EXPECT_TRUE(ended);
}

TEST(Launch, a_benchmark_without_its_ground_is_not_run) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--cases", "gemm.local.speed"}),
                             with_hook("crash@gemm.local.integer"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(results.at("gemm.local.integer@0")->verdict, Verdict::crash);
  EXPECT_EQ(results.at("gemm.local.speed@0")->verdict, Verdict::not_run);
  EXPECT_NE(report.text(results.at("gemm.local.speed@0")->reason).find("correct_by"),
            std::string::npos);
}

TEST(Launch, a_slot_without_workers_is_lost_and_the_rest_is_told) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--cases", "load.tile.rank?"}), with_hook("crash@ready"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const auto report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(results.at("load.tile.rank1@0")->verdict, Verdict::crash);
  EXPECT_EQ(results.at("load.tile.rank2@0")->verdict, Verdict::gpu_lost);
  EXPECT_EQ(results.at("load.tile.rank4@0")->verdict, Verdict::gpu_lost);
  EXPECT_EQ(results.at("load.tile.rank5@0")->verdict, Verdict::gpu_lost);
}

}  // namespace
}  // namespace tidemark
