// Launches that go on with one that was interrupted.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/resume.hpp"
#include "harness/testing/launch_place.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {
namespace {

const Arguments kCases = {"--cases", "load.tile.rank1", "zfill.whole"};

Arguments with(Arguments some, const Arguments& more) {
  some.insert(some.end(), more.begin(), more.end());
  return some;
}

/// One rank that is stopped in its second case.
void interrupt(const Place& place) {
  const RunningProgram running =
      start_program(command(run_arguments(place, kCases)), with_hook("minute@zfill.whole"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"start","from":)"));
  ASSERT_TRUE(appears(place.journals(), R"("case":"zfill.whole","attempt")"));
  kill(running.pid, SIGTERM);
  ASSERT_EQ(finish_program(running).exit, 4);
}

Ran go_on(const Place& place, const Arguments& more) {
  return run_binary(with(
      {"run", "--device", "virtual", "--out", place.file("s.h5"), "--resume", place.journals()},
      more));
}

TEST(Resume, runs_what_has_no_outcome_and_has_the_rest_in_its_report) {
  const Place place;
  interrupt(place);
  const Ran ran = go_on(place, kCases);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find(": 1 results are there"), std::string::npos) << ran.out;
  const Report before = read_report(place.out()), after = read_report(place.file("s.h5"));
  EXPECT_TRUE(after.launch.complete) << after.launch.incomplete_reason;
  EXPECT_EQ(after.launch.seed, before.launch.seed);
  ASSERT_EQ(after.results.size(), 2U);
  EXPECT_EQ(results_of(after).at("load.tile.rank1@0")->start_unix_s,
            results_of(before).at("load.tile.rank1@0")->start_unix_s);
  EXPECT_EQ(results_of(after).at("zfill.whole@0")->verdict, Verdict::pass);
}

/// Takes the line that holds all of `parts` out of the journal of rank 0 in `folder`.
void lose_line(const std::string& folder, const Arguments& parts) {
  const std::string path = folder + "/rank-00000.jsonl";
  std::ifstream journal(path);
  std::string kept;
  for (std::string line; std::getline(journal, line);) {
    const bool lost = std::all_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return line.find(part) != std::string::npos;
    });
    if (!lost) kept += line + '\n';
  }
  std::ofstream(path) << kept;
}

const Arguments kTogether = {"--gpus", "2", "--cases", "gemm.distributed.integer",
                             "gemm.distributed.normal"};

/// Two GPUs that are stopped in their second case.
void interrupt_together(const Place& place) {
  const RunningProgram running = start_program(command(run_arguments(place, kTogether)),
                                               with_hook("minute@gemm.distributed.normal"));
  ASSERT_TRUE(appears(place.journals(), R"("gpu":1,"case":"gemm.distributed.normal")"));
  kill(running.pid, SIGTERM);
  ASSERT_EQ(finish_program(running).exit, 4);
}

TEST(Resume, runs_a_case_of_all_gpus_on_all_where_one_has_no_outcome) {
  const Place place;
  interrupt_together(place);
  const Report before = read_report(place.out());
  lose_line(place.journals(),
            {R"("type":"outcome")", R"("gpu":1,"case":"gemm.distributed.integer")"});
  const Ran ran = go_on(place, kTogether);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Report after = read_report(place.file("s.h5"));
  const auto started = [](const Report& report) {
    return results_of(report).at("gemm.distributed.integer@0")->start_unix_s;
  };
  EXPECT_GT(started(after), started(before));
}

TEST(Resume, runs_a_pass_again_that_an_uncontained_memory_error_spoiled) {
  const Place place;
  interrupt(place);
  const Report before = read_report(place.out());
  const double began = results_of(before).at("load.tile.rank1@0")->start_unix_s;
  std::ofstream(place.journals() + "/rank-00000.jsonl", std::ios::app)
      << to_line(EventRecord{.at_unix_s = began, .gpu = 0, .source = "nvml", .code = 95},
                 LineOrigin{.run_id = before.launch.run_id, .rank = 0, .number = 1000});
  const Ran ran = go_on(place, kCases);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Report after = read_report(place.file("s.h5"));
  EXPECT_GT(results_of(after).at("load.tile.rank1@0")->start_unix_s, began);
}

/// The result of zfill.whole where its first attempt ended so, and the launch in the second one.
void expect_flaky_after(Verdict verdict) {
  const Place place;
  interrupt(place);
  const Report before = read_report(place.out());
  // A failed attempt at the case that was interrupted, and the start of the next one.
  const LineOrigin at{.run_id = before.launch.run_id, .rank = 0, .number = 1000};
  std::ofstream journal(place.journals() + "/rank-00000.jsonl", std::ios::app);
  OutcomeRecord failed;
  failed.gpu = 0;
  failed.case_name = "zfill.whole";
  failed.attempt = 1;
  failed.verdict = verdict;
  failed.reason = "a byte is wrong";
  journal << to_line(failed, at);
  journal.close();
  const Ran ran = go_on(place, kCases);
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report after = read_report(place.file("s.h5"));
  const ResultRow& result = *results_of(after).at("zfill.whole@0");
  EXPECT_EQ(result.verdict, Verdict::flaky);
  EXPECT_EQ(result.attempts, 2U);
  EXPECT_TRUE(after.launch.complete) << after.launch.incomplete_reason;
}

TEST(Resume, takes_back_no_failure_of_a_case_that_runs_again) { expect_flaky_after(Verdict::fail); }

TEST(Resume, takes_back_no_crash_of_a_case_that_runs_again) { expect_flaky_after(Verdict::crash); }

TEST(Resume, takes_back_no_crash_of_a_gpu_in_a_case_of_all) {
  const Place place;
  interrupt_together(place);
  const std::string run_id(read_report(place.out()).launch.run_id);
  lose_line(place.journals(),
            {R"("type":"outcome")", R"("gpu":0,"case":"gemm.distributed.integer")"});
  lose_line(place.journals(),
            {R"("type":"outcome")", R"("gpu":1,"case":"gemm.distributed.integer")"});
  std::ofstream journal(place.journals() + "/rank-00000.jsonl", std::ios::app);
  OutcomeRecord crash;
  crash.gpu = 1;
  crash.case_name = "gemm.distributed.integer";
  crash.verdict = Verdict::crash;
  journal << to_line(crash, LineOrigin{.run_id = run_id, .rank = 0, .number = 1000});
  journal.close();
  const Ran ran = go_on(place, kTogether);
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report after = read_report(place.file("s.h5"));
  EXPECT_EQ(results_of(after).at("gemm.distributed.integer@0")->verdict, Verdict::pass);
  EXPECT_EQ(results_of(after).at("gemm.distributed.integer@1")->verdict, Verdict::flaky);
}

TEST(Resume, runs_a_case_again_whose_first_attempt_was_lost) {
  const Place place;
  interrupt(place);
  const Report before = read_report(place.out());
  const LineOrigin at{.run_id = before.launch.run_id, .rank = 0, .number = 1000};
  std::ofstream journal(place.journals() + "/rank-00000.jsonl", std::ios::app);
  OutcomeRecord second;
  second.gpu = 0;
  second.case_name = "zfill.whole";
  second.attempt = 2;
  second.verdict = Verdict::pass;
  second.start_unix_s = 1e9;
  journal << to_line(second, at);
  journal.close();
  const Ran ran = go_on(place, kCases);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_GT(results_of(read_report(place.file("s.h5"))).at("zfill.whole@0")->start_unix_s, 1.5e9);
}

TEST(Resume, keeps_the_event_that_spoiled_a_pass) {
  const Place place;
  interrupt(place);
  const Report before = read_report(place.out());
  std::ofstream(place.journals() + "/rank-00000.jsonl", std::ios::app)
      << to_line(EventRecord{.at_unix_s = results_of(before).at("load.tile.rank1@0")->start_unix_s,
                             .gpu = 0,
                             .source = "nvml",
                             .code = 95},
                 LineOrigin{.run_id = before.launch.run_id, .rank = 0, .number = 1000});
  EXPECT_EQ(go_on(place, kCases).exit, 0);
  const Report after = read_report(place.file("s.h5"));
  EXPECT_EQ(std::count_if(after.events.begin(), after.events.end(),
                          [](const EventRow& event) { return event.code == 95; }),
            1);
}

TEST(Resume, refuses_another_driver_or_vbios) {
  GpuRecord then;
  then.uuid = "GPU-1";
  then.driver = "580.1";
  then.vbios = "96.1";
  Resumed before;
  before.folder = "x.run";
  before.known = {then};
  GpuRecord now = then;
  EXPECT_EQ(differs_from(before, {now}), "");
  now.driver = "590.1";
  EXPECT_NE(differs_from(before, {now}).find("driver of GPU-1 was 580.1 and is 590.1"),
            std::string::npos);
  now = then;
  now.vbios = "";
  EXPECT_NE(differs_from(before, {now}).find("VBIOS of GPU-1 was 96.1 and is unknown"),
            std::string::npos);
  EXPECT_EQ(differs_from({}, {now}), "");  // nothing is resumed
}

TEST(Resume, refuses_other_arguments_and_says_which_they_were) {
  const Place place;
  interrupt(place);
  const Ran ran = go_on(place, {"--cases", "zfill.whole"});
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(ran.err, "tidemark: --resume " + place.journals() +
                         ": it was started with other arguments; repeat them: run --device virtual "
                         "--cases load.tile.rank1 zfill.whole\n");
}

TEST(Resume, refuses_a_folder_without_journals) {
  const Place place;
  const Ran ran = go_on(place, kCases);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

#ifdef TIDEMARK_WITH_MPI

TEST(MpiResume, a_round_that_lacks_one_answer_is_run_by_all_and_the_others_are_not) {
  const Place place;
  const Arguments cases = {"--cases", "zfill.whole", "gemm.distributed.integer",
                           "gemm.distributed.normal"};
  Ran ran = run_program(under_mpirun(2, run_arguments(place, with(cases, {"--time-limit", "8"}))),
                        with_hook("minute@gemm.distributed.normal#1"));
  ASSERT_EQ(ran.exit, 4) << ran.out << ran.err;
  ran = run_program(under_mpirun(2, with({"run", "--device", "virtual", "--out", place.file("s.h5"),
                                          "--resume", place.journals()},
                                         cases)),
                    kRoot);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Report before = read_report(place.out()), after = read_report(place.file("s.h5"));
  for (const char* pair : {"zfill.whole@1", "gemm.distributed.integer@0"})
    EXPECT_EQ(results_of(after).at(pair)->start_unix_s, results_of(before).at(pair)->start_unix_s);
  EXPECT_EQ(results_of(after).at("gemm.distributed.normal@0")->attempts, 1U);
}

TEST(MpiResume, refuses_another_number_of_gpus) {
  const Place place;
  Ran ran = run_program(
      under_mpirun(2, run_arguments(place, {"--cases", "zfill.whole", "--time-limit", "0.5"})),
      with_hook("minute@zfill.whole"));
  ASSERT_EQ(ran.exit, 4) << ran.out << ran.err;
  ran = run_program(under_mpirun(3, {"run", "--device", "virtual", "--cases", "zfill.whole",
                                     "--out", place.file("s.h5"), "--resume", place.journals()}),
                    kRoot);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(ran.err, "tidemark: --resume " + place.journals() +
                         ": it ran on 2 GPUs, and here are 3; give the same\n");
}

TEST(MpiResume, ranks_whose_folders_differ_are_told_to_make_them_one) {
  const Place place;
  const Arguments cases = {"--cases", "load.tile.rank1", "zfill.whole"};
  Ran ran = run_program(under_mpirun(2, run_arguments(place, with(cases, {"--time-limit", "8"}))),
                        with_hook("minute@zfill.whole"));
  ASSERT_EQ(ran.exit, 4) << ran.out << ran.err;
  const std::string other = place.file("other.h5.run");
  std::filesystem::copy(place.journals(), other);
  lose_line(other, {R"("type":"outcome")", R"("case":"load.tile.rank1")"});
  const auto resumed = [&](const std::string& folder) {
    return with({"run", "--device", "virtual", "--out", place.file("s.h5"), "--resume", folder},
                cases);
  };
  Arguments all = with(under_mpirun(1, resumed(place.journals())), {":", "-n", "1"});
  all = with(with(all, {TIDEMARK_BINARY}), resumed(other));
  ran = run_program(all, kRoot);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("; copy the journals of all hosts into one folder, for every rank\n"),
            std::string::npos)
      << ran.err;
}

#endif

}  // namespace
}  // namespace tidemark
