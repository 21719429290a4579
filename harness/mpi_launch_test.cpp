// The same program under mpirun: several ranks, and what befalls some of them.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "harness/testing/launch_place.hpp"
#include "reports/export/export.hpp"
#include "reports/journal/journal.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

#ifdef TIDEMARK_WITH_MPI

TEST(MpiLaunch, two_ranks_pass_and_make_one_report) {
  const Place place;
  const Ran ran =
      run_program(under_mpirun(2, run_arguments(place, {"--cases", "zfill.whole", "--cases",
                                                        "gemm.distributed.integer"})),
                  kRoot);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_EQ(place.files(), std::vector<std::string>{"r.h5"});
  const Report report = read_report(place.out());
  EXPECT_TRUE(report.launch.complete) << report.launch.incomplete_reason;
  EXPECT_EQ(report.launch.ranks_reported, 2U);
  EXPECT_EQ(report.launch.gpus, 2U);
  EXPECT_EQ(report.results.size(), 4U);
}

TEST(MpiLaunch, rows_by_sm_of_all_ranks_come_to_the_report) {
  const Place place;
  const Ran ran = run_program(
      under_mpirun(2, run_arguments(place, {"--cases", "load.tile.pairs", "load.tile.rank1"})),
      kRoot);
  ASSERT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Ran shown = run_binary({"show", place.out()});
  EXPECT_NE(shown.out.find("\nSMs: 132 visited on each of 2 GPUs\n"), std::string::npos)
      << shown.out;
}

TEST(MpiLaunch, a_crash_in_a_round_is_named_and_the_next_round_runs) {
  const Place place;
  const Ran ran =
      run_program(under_mpirun(4, run_arguments(place, {"--cases", "gemm.distributed.integer",
                                                        "--cases", "gemm.distributed.normal"})),
                  with_hook("crash@gemm.distributed.integer#2"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(results.at("gemm.distributed.integer@2")->verdict, Verdict::crash);
  for (const char* other : {"0", "1", "3"}) {
    const ResultRow& row = *results.at(std::string("gemm.distributed.integer@") + other);
    EXPECT_EQ(row.verdict, Verdict::not_run);
    EXPECT_NE(report.text(row.reason).find("slot 2 ("), std::string::npos)
        << report.text(row.reason);
    EXPECT_EQ(results.at(std::string("gemm.distributed.normal@") + other)->verdict, Verdict::pass);
  }
  EXPECT_EQ(results.at("gemm.distributed.normal@2")->verdict, Verdict::pass);
}

TEST(MpiLaunch, a_round_with_a_crash_runs_again_on_all_ranks) {
  const Place place;
  const Ran ran =
      run_program(under_mpirun(3, run_arguments(place, {"--cases", "gemm.distributed.integer"})),
                  with_hook("crash_once@gemm.distributed.integer#1"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(results.at("gemm.distributed.integer@0")->verdict, Verdict::pass);
  EXPECT_EQ(results.at("gemm.distributed.integer@1")->verdict, Verdict::flaky);
  EXPECT_EQ(results.at("gemm.distributed.integer@2")->verdict, Verdict::pass);
}

TEST(MpiLaunch, a_stopped_worker_hangs_and_those_that_waited_for_it_did_not_run) {
  const Place place;
  // The others give up before the second after which the stopped one counts as hung.
  const Ran ran =
      run_program(under_mpirun(3, run_arguments(place, {"--cases", "gemm.distributed.integer"})),
                  with_hook("stop@gemm.distributed.integer#1 impatient@gemm.distributed.integer"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  Report report = read_report(place.out());
  const auto results = results_of(report);
  const ResultRow& stopped = *results.at("gemm.distributed.integer@1");
  EXPECT_EQ(stopped.verdict, Verdict::hang);
  EXPECT_NE(report.text(stopped.reason).find("its worker was stopped"), std::string::npos)
      << report.text(stopped.reason);
  for (const char* waiter : {"0", "2"}) {
    const ResultRow& row = *results.at(std::string("gemm.distributed.integer@") + waiter);
    EXPECT_EQ(row.verdict, Verdict::not_run);
    const std::string reason(report.text(row.reason));
    EXPECT_EQ(reason.find("slot 1 ("), 0U) << reason;
    EXPECT_NE(reason.find(") hung in the same round; row 0"), std::string::npos) << reason;
    EXPECT_NE(reason.find("waits for GPU"), std::string::npos) << reason;
  }
  report.launch.is_virtual = false;  // a list for draining is of GPUs alone
  report.provenance.clear();         // and of no test hook's victims
  const std::string drain = drain_of(report).text;
  EXPECT_NE(drain.find("\tvirtual-1-0\tgemm.distributed.integer hang\n"), std::string::npos);
  EXPECT_EQ(std::count(drain.begin(), drain.end(), '\n'), 1) << drain;
}

TEST(MpiLaunch, workers_that_hang_beside_a_stopped_one_did_not_run) {
  const Place place;
  const Ran ran =
      run_program(under_mpirun(3, run_arguments(place, {"--cases", "gemm.distributed.integer"})),
                  with_hook("stop@gemm.distributed.integer#1 hang@gemm.distributed.integer#0 "
                            "hang@gemm.distributed.integer#2"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(results.at("gemm.distributed.integer@1")->verdict, Verdict::hang);
  for (const char* other : {"0", "2"}) {
    const ResultRow& row = *results.at(std::string("gemm.distributed.integer@") + other);
    EXPECT_EQ(row.verdict, Verdict::not_run);
    EXPECT_EQ(report.text(row.reason).find("slot 1 ("), 0U) << report.text(row.reason);
  }
}

TEST(MpiLaunch, a_killed_rank_0_leaves_the_reporters_report) {
  const Place place;
  const RunningProgram running = start_program(
      under_mpirun(2,
                   run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"})),
      with_hook("minute@zfill.whole"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"outcome")"));
  const pid_t rank_0 = rank_pid(running.pid, 0);
  ASSERT_GT(rank_0, 0);
  ::kill(rank_0, SIGKILL);
  EXPECT_NE(finish_program(running).exit, 0);
  ASSERT_TRUE(appears_file(place.out()));
  const Report report = read_report(place.out());
  EXPECT_FALSE(report.launch.complete);
  EXPECT_EQ(report.launch.ranks_expected, 2U);
  EXPECT_EQ(report.results.size(), 4U);
}

TEST(MpiLaunch, ctrl_c_leaves_an_incomplete_report) {
  const Place place;
  const RunningProgram running = start_program(
      under_mpirun(2,
                   run_arguments(place, {"--cases", "load.tile.rank1", "--cases", "zfill.whole"})),
      with_hook("minute@zfill.whole"));
  ASSERT_TRUE(appears(place.journals(), R"("type":"outcome")"));
  ::kill(running.pid, SIGINT);
  EXPECT_NE(finish_program(running).exit, 0);
  ASSERT_TRUE(appears_file(place.out()));
  EXPECT_FALSE(read_report(place.out()).launch.complete);
}

TEST(MpiLaunch, a_folder_that_is_removed_costs_no_result) {
  const Place place;
  const std::string folder = place.file("gone"), temporary = place.file("t");
  std::filesystem::create_directory(folder);
  std::filesystem::create_directory(temporary);
  Environment environment = with_hook("slow@zfill.whole");
  environment.emplace_back("TMPDIR", temporary);
  const RunningProgram running =
      start_program(under_mpirun(2, {"run", "--device", "virtual", "--seed", "7", "--out",
                                     folder + "/r.h5", "--cases", "zfill.*"}),
                    environment);
  ASSERT_TRUE(appears(folder + "/r.h5.run", "\"case\":\"zfill.whole\""));
  std::filesystem::remove_all(folder);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("11 cases x 2 gpus: 22 pass = 22 planned"), std::string::npos) << ran.out;
  EXPECT_NE(ran.err.find("is gone, and with it the journals"), std::string::npos) << ran.err;
  EXPECT_EQ(ran.err.find("are not on disk"), std::string::npos) << ran.err;
  const std::size_t begin = ran.out.find("report: " + temporary);
  ASSERT_NE(begin, std::string::npos) << ran.out;
  const std::size_t path = begin + std::string("report: ").size();
  const Report report = read_report(ran.out.substr(path, ran.out.find('\n', path) - path));
  EXPECT_TRUE(report.launch.complete);
  EXPECT_EQ(report.results.size(), 22U);
}

TEST(MpiLaunch, a_disk_of_one_rank_that_fills_costs_no_outcome) {
  const Place place;
  const RunningProgram running =
      start_program(under_mpirun(2, run_arguments(place, {"--cases", "zfill.*"})),
                    with_hook("slow@zfill.corner#1"));
  ASSERT_TRUE(appears(place.journals(), R"("gpu":1,"case":"zfill.corner")"));
  const rlimit full{.rlim_cur = 1, .rlim_max = RLIM_INFINITY};
  ASSERT_EQ(prlimit(rank_pid(running.pid, 1), RLIMIT_FSIZE, &full, nullptr), 0);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("11 cases x 2 gpus: 22 pass = 22 planned"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find(" rank 1: "), std::string::npos) << ran.out;
  EXPECT_TRUE(read_report(place.out()).launch.complete);
}

TEST(MpiLaunch, a_killed_rank_is_named_and_where_the_report_comes) {
  const Place place;
  const RunningProgram running =
      start_program(under_mpirun(4, run_arguments(place, {"--cases", "zfill.whole"})),
                    with_hook("minute@zfill.whole"));
  for (const char* rank : {"0", "1", "2", "3"}) {
    ASSERT_TRUE(
        appears(place.journals(), std::string("\"gpu\":") + rank + ",\"case\":\"zfill.whole\""));
  }
  const pid_t rank_2 = rank_pid(running.pid, 2);
  ASSERT_GT(rank_2, 0);
  kill(rank_2, SIGKILL);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 137) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("comes to " + place.out()), std::string::npos) << ran.out;
  ASSERT_TRUE(appears_file(place.out()));
  const std::string reason = read_report(place.out()).launch.incomplete_reason;
  EXPECT_NE(reason.find("rank 2 ("), std::string::npos) << reason;
  EXPECT_NE(reason.find("last at zfill.whole, did not get to the end; "), std::string::npos)
      << reason;
}

TEST(MpiLaunch, bad_output_is_one_line_from_one_rank) {
  const Place place;
  const Ran ran = run_program(under_mpirun(2, {"run", "--device", "virtual", "--cases",
                                               "zfill.whole", "--out", "/no/such/place/r.h5"}),
                              kRoot);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_NE(ran.err.find("there is no folder"), std::string::npos) << ran.err;
}

TEST(MpiLaunch, a_waiver_holds_for_the_rank_that_it_names) {
  const Place place;
  const std::string policy = place.out() + ".policy.json";
  std::ofstream(policy) << R"({"waivers": [{"case": "*", "gpu": "virtual-1-0", "owner": "Ann",)"
                        << R"( "link": "T-1", "expires": "2999-12-31"}]})";
  const Ran ran = run_program(
      under_mpirun(2, run_arguments(place, {"--cases", "load.tile.swizzle", "--fault",
                                            "load_swizzle_ignored", "--policy", policy})),
      kRoot);
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  const Report report = read_report(place.out());
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_EQ(report.results[0].verdict, Verdict::fail);
  EXPECT_EQ(report.results[1].verdict, Verdict::waived);
}

/// A launch whose rank 1 gets other arguments than rank 0, beside device, seed and report.
Ran run_two(const Place& place, const Arguments& first, const Arguments& second) {
  Arguments all = under_mpirun(1, run_arguments(place, first));
  all.insert(all.end(), {":", "-n", "1", TIDEMARK_BINARY});
  for (const std::string& argument : run_arguments(place, second)) all.push_back(argument);
  return run_program(all, kRoot);
}

TEST(MpiLaunch, ranks_that_slow_different_benchmarks_are_refused) {
  const Place place;
  const Ran ran = run_two(place, {"--cases", "gemm.local.speed"},
                          {"--cases", "gemm.local.speed", "--slow", "gemm.local.speed=50%"});
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(ran.err,
            "tidemark: rank 1 was started with --slow gemm.local.speed=50% and rank 0 without "
            "--slow; give every rank the same arguments\n");
  EXPECT_TRUE(place.files().empty());
}

TEST(MpiLaunch, ranks_of_different_cases_are_refused) {
  const Place place;
  const Ran ran = run_two(place, {"--cases", "zfill.side"}, {"--cases", "zfill.whole"});
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(ran.err,
            "tidemark: rank 1 was started with --cases zfill.whole and rank 0 with --cases "
            "zfill.side; give every rank the same arguments\n");
  EXPECT_TRUE(place.files().empty());
}

TEST(MpiLaunch, ranks_of_different_levels_are_refused) {
  const Place place;
  const Ran ran =
      run_two(place, {"--cases", "zfill.side"}, {"--cases", "zfill.side", "--level", "nightly"});
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("rank 1 was started with --level nightly and rank 0 with --level quick"),
            std::string::npos)
      << ran.err;
  EXPECT_TRUE(place.files().empty());
}

TEST(MpiLaunch, ranks_of_different_transports_are_refused) {
  const Place place;
  const Ran ran = run_two(place, {"--cases", "gemm.distributed.shapes"},
                          {"--cases", "gemm.distributed.shapes", "--transport", "mpi"});
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(ran.err,
            "tidemark: rank 1 was started with --transport mpi and rank 0 with --transport auto; "
            "give every rank the same arguments\n");
  EXPECT_TRUE(place.files().empty());
}

TEST(MpiLaunch, ranks_of_different_products_are_refused) {
  const Place place;
  const Arguments usual = {"--cases", "gemm.distributed.speed"};
  Arguments sized = usual;
  sized.insert(sized.end(), {"--n", "64"});
  Ran ran = run_two(place, usual, sized);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(ran.err,
            "tidemark: rank 1 was started with --n 64 and rank 0 without --n; give every rank the "
            "same arguments\n");
  Arguments flat = sized;
  flat.insert(flat.end(), {"--k", "8"});
  ran = run_two(place, sized, flat);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("rank 1 was started with --k 8 and rank 0 with --k 64"), std::string::npos)
      << ran.err;
  Arguments high = sized, wide = sized;
  high.insert(high.end(), {"--grid", "2x1"});
  wide.insert(wide.end(), {"--grid", "1x2"});
  ran = run_two(place, high, wide);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("rank 1 was started with --grid 1x2 and rank 0 with --grid 2x1"),
            std::string::npos)
      << ran.err;
  EXPECT_TRUE(place.files().empty());
}

TEST(MpiLaunch, a_grid_of_other_ranks_is_one_line_from_one_rank) {
  const Place place;
  const Arguments arguments =
      run_arguments(place, {"--cases", "gemm.distributed.speed", "--grid", "2x2"});
  Ran ran = run_program(under_mpirun(2, arguments), kRoot);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(ran.err,
            "tidemark: --grid '2x2': has 4 places for 2 GPUs; give rows and columns that multiply "
            "to 2\n");
  Arguments dry = arguments;
  dry.emplace_back("--dry-run");
  ran = run_program(under_mpirun(2, dry), kRoot);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_TRUE(place.files().empty());
}

TEST(MpiLaunch, a_product_of_given_sizes_is_timed_and_checked_on_a_given_grid) {
  for (const auto& [ranks, grid] : {std::pair(2, "2x1"), std::pair(4, "1x4")}) {
    const Place place;
    const Ran ran = run_program(
        under_mpirun(ranks, {"bench", "gemm.distributed.speed", "--device", "virtual", "--out",
                             place.out(), "--m", "96", "--n", "64", "--k", "40", "--grid", grid}),
        kRoot);
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_NE(ran.out.find("\n  rate_96x64x40 "), std::string::npos) << ran.out;
    EXPECT_NE(ran.out.find("\n  exchange_96x64x40 "), std::string::npos) << ran.out;
    const Report report = read_report(place.out());
    const auto results = results_of(report);
    ASSERT_EQ(results.size(), 2U * static_cast<unsigned>(ranks));
    EXPECT_EQ(results.at("gemm.distributed.speed@1")->rows_run, 1U);
    EXPECT_EQ(results.at("gemm.distributed.integer@1")->rows_run, 5U);  // one more than usual
  }
}

TEST(MpiLaunch, a_transport_that_one_rank_cannot_make_is_a_reason) {
  const Place place;
  const Ran ran =
      run_program(under_mpirun(2, run_arguments(place, {"--cases", "gemm.distributed.shapes"})),
                  with_hook("fail@transport#1"));
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const ResultRow& result = *results_of(report).at("gemm.distributed.shapes@1");
  EXPECT_EQ(result.verdict, Verdict::tool_error);
  EXPECT_EQ(report.text(result.reason), "there is no transport: test hook: transport");
}

TEST(MpiLaunch, a_bad_policy_is_one_line_from_one_rank) {
  const Place place;
  const Ran ran = run_program(
      under_mpirun(2, run_arguments(place, {"--cases", "zfill.whole", "--policy", "/no/such"})),
      kRoot);
  EXPECT_EQ(ran.exit, 2) << ran.out << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_TRUE(place.files().empty());
}

TEST(MpiLaunch, a_time_limit_between_two_phases_loses_no_outcome) {
  const Place place;
  // The limit falls while rank 0 is still in the cases of one GPU, and rank 1 waits in the next
  // phase.
  const Ran ran =
      run_program(under_mpirun(2, run_arguments(place, {"--cases", "zfill.*", "gemm.distributed.*",
                                                        "--time-limit", "8"})),
                  with_hook("minute@zfill.whole#0"));
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  EXPECT_EQ(place.files(), (std::vector<std::string>{"r.h5", "r.h5.run"}));
  const Report report = read_report(place.out());
  EXPECT_EQ(report.launch.ranks_reported, 2U) << report.launch.incomplete_reason;
  for (const ResultRow& row : report.results) {
    const std::string_view name = report.cases.at(row.case_id).name.view();
    if (row.gpu_id != 1 || !name.starts_with("zfill.")) continue;
    EXPECT_EQ(row.verdict, Verdict::pass) << name << ": " << report.text(row.reason);
  }
}

TEST(MpiLaunch, a_time_limit_within_the_opening_ends_all_ranks_alike) {
  const Place place;
  Environment environment = kRoot;
  environment.emplace_back("TIDEMARK_TEST_DELAYS", "3");
  const Ran ran = run_program(
      under_mpirun(4, run_arguments(place, {"--cases", "zfill.whole", "--time-limit", "0.001"})),
      environment);
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  EXPECT_EQ(place.files(), (std::vector<std::string>{"r.h5", "r.h5.run"}));
  const Report report = read_report(place.out());
  EXPECT_EQ(report.launch.ranks_reported, 4U);
  EXPECT_FALSE(report.launch.complete);
}

/// On 1 to 8 ranks.
class MpiRanks : public testing::TestWithParam<int> {};

TEST_P(MpiRanks, pass_all_cases_of_all_gpus_whatever_is_late) {
  const Place place;
  Environment environment = kRoot;
  environment.emplace_back("TIDEMARK_TEST_DELAYS", std::to_string(GetParam()));
  const Ran ran = run_program(
      under_mpirun(GetParam(), run_arguments(place, {"--cases", "gemm.distributed.*", "peer.*"})),
      environment);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_TRUE(read_report(place.out()).launch.complete);
}

INSTANTIATE_TEST_SUITE_P(Launch, MpiRanks, testing::Range(1, 9));

#endif

}  // namespace
}  // namespace tidemark
