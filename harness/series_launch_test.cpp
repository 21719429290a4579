// Several launches by one command: their reports, how they end together, and a benchmark that is
// slowed on purpose.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "harness/testing/launch_place.hpp"
#include "reports/journal/journal.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

TEST(Launches, each_leave_a_report_of_their_own) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--launches", "3", "--cases", "load.tile.rank1"}));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_EQ(place.files(), (std::vector<std::string>{"r-1.h5", "r-2.h5", "r-3.h5"}));
  const std::set<std::string> run_ids = {read_report(place.file("r-1.h5")).launch.run_id,
                                         read_report(place.file("r-2.h5")).launch.run_id,
                                         read_report(place.file("r-3.h5")).launch.run_id};
  EXPECT_EQ(run_ids.size(), 3U);
  const LaunchRow third = read_report(place.file("r-3.h5")).launch;
  EXPECT_EQ(third.series_id, read_report(place.file("r-1.h5")).launch.run_id);
  EXPECT_EQ(third.launch, 3U);
  EXPECT_EQ(third.launches, 3U);
  EXPECT_NE(ran.out.find("launch 2 of 3"), std::string::npos) << ran.out;
}

TEST(Launches, are_refused_before_the_first_where_a_later_report_exists) {
  const Place place;
  std::ofstream(place.file("r-3.h5")) << "mine";
  const Ran ran =
      run_binary(run_arguments(place, {"--launches", "3", "--cases", "load.tile.rank1"}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("r-3.h5: exists; choose another name"), std::string::npos) << ran.err;
  EXPECT_EQ(place.files(), std::vector<std::string>{"r-3.h5"});
}

TEST(Launches, are_refused_a_name_without_an_ending) {
  const Ran ran = run_binary({"run", "--device", "virtual", "--launches", "3", "--out", "a"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err.find("tidemark: --out a: "), 0U) << ran.err;
}

TEST(Launches, end_together_by_a_signal_and_leave_what_there_is) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--launches", "3", "--cases", "load.tile.rank1"})),
      with_hook("slow@load.tile.rank1"));
  ASSERT_TRUE(appears(place.file("r-2.h5.run"), R"("type":"start")"));
  ::kill(running.pid, SIGTERM);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  EXPECT_EQ(place.files(), (std::vector<std::string>{"r-1.h5", "r-2.h5", "r-2.h5.run"}));
  EXPECT_TRUE(read_report(place.file("r-1.h5")).launch.complete);
  EXPECT_FALSE(read_report(place.file("r-2.h5")).launch.complete);
  EXPECT_NE(ran.err.find("stopped by SIGTERM: 2 of 3 launches were begun"), std::string::npos)
      << ran.err;
}

TEST(Launches, share_one_time_limit) {
  const Place place;
  const Ran ran = run_binary(
      run_arguments(place, {"--launches", "20", "--time-limit", "4", "--cases", "load.tile.rank1"}),
      with_hook("slow@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  EXPECT_TRUE(std::filesystem::exists(place.file("r-1.h5")));
  EXPECT_FALSE(std::filesystem::exists(place.file("r-5.h5")));
  EXPECT_NE(ran.err.find("time limit of 4 s: "), std::string::npos) << ran.err;
}

TEST(Launches, return_the_code_that_counts_first_of_all) {
  const Place place;
  const Ran ran = run_binary(run_arguments(place, {"--launches", "2", "--cases", "load.tile.rank1",
                                                   "--cases", "load.tile.rank2"}),
                             with_hook("fail@load.tile.rank1"));
  EXPECT_EQ(ran.exit, 1) << ran.out << ran.err;
  EXPECT_TRUE(std::filesystem::exists(place.file("r-2.h5")));
}

TEST(Launches, leave_the_last_one_to_the_reporter_when_the_supervisor_is_killed) {
  const Place place;
  const RunningProgram running = start_program(
      command(run_arguments(place, {"--launches", "3", "--cases", "load.tile.rank1"})),
      with_hook("slow@load.tile.rank1"));
  ASSERT_TRUE(appears(place.file("r-2.h5.run"), R"("type":"start")"));
  ::kill(running.pid, SIGKILL);
  EXPECT_EQ(finish_program(running).exit, 128 + SIGKILL);
  ASSERT_TRUE(appears_file(place.file("r-2.h5")));
  EXPECT_FALSE(read_report(place.file("r-2.h5")).launch.complete);
  EXPECT_TRUE(read_report(place.file("r-1.h5")).launch.complete);
}

const char* const kConflicts = "load.atom3d.bank_conflicts";

TEST(SlowedOnPurpose, is_measured_said_and_found) {
  const Place place;
  const Ran healthy = run_binary({"run", "--device", "virtual", "--seed", "7", "--cases",
                                  kConflicts, "--out", place.file("healthy.h5")});
  EXPECT_EQ(healthy.exit, 0) << healthy.err;
  const Ran slowed = run_binary(
      run_arguments(place, {"--cases", kConflicts, "--slow", std::string(kConflicts) + "=50%"}));
  EXPECT_EQ(slowed.exit, 0) << slowed.err;
  EXPECT_NE(slowed.out.find("SLOWED ON PURPOSE: load.atom3d.bank_conflicts by 50%"),
            std::string::npos)
      << slowed.out;
  const Report before = read_report(place.file("healthy.h5")), after = read_report(place.out());
  ASSERT_EQ(after.metrics.size(), before.metrics.size());
  for (std::size_t i = 0; i < before.metrics.size(); ++i) {
    EXPECT_DOUBLE_EQ(after.metrics[i].median, 1.5 * before.metrics[i].median);
  }
  EXPECT_EQ(provenance_of(after, "slow.load.atom3d.bank_conflicts"), "50%");
  const Ran shown = run_binary({"show", place.out()});
  EXPECT_NE(shown.out.find("SLOWED ON PURPOSE: load.atom3d.bank_conflicts by 50%; these numbers"),
            std::string::npos)
      << shown.out;
  const Ran compared = run_binary({"compare", place.file("healthy.h5"), place.out()});
  EXPECT_EQ(compared.exit, 3) << compared.out;
  EXPECT_NE(compared.out.find("confounder slow.load.atom3d.bank_conflicts: not slowed -> 50%"),
            std::string::npos)
      << compared.out;
  EXPECT_EQ(compared.out.find("arguments"), std::string::npos) << compared.out;
}

TEST(SlowedOnPurpose, leaves_the_other_benchmarks_alone) {
  const Place place;
  const Ran ran =
      run_binary(run_arguments(place, {"--cases", kConflicts, "--cases", "gemm.local.speed",
                                       "--slow", "gemm.local.speed=3%"}));
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(report.text(results.at("load.atom3d.bank_conflicts@0")->notes).find("SLOWED"),
            std::string::npos);
  const std::string_view notes = report.text(results.at("gemm.local.speed@0")->notes);
  EXPECT_NE(notes.find("SLOWED ON PURPOSE by 3 %"), std::string::npos) << notes;
  EXPECT_NE(notes.find("the host spins"), std::string::npos) << notes;
}

TEST(SlowedOnPurpose, twice_is_a_usage_error) {
  const Place place;
  const Ran ran = run_binary(
      run_arguments(place, {"--slow", "gemm.local.speed=3%", "--slow", "gemm.local.speed=4%"}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("this case was given before"), std::string::npos) << ran.err;
}

#ifdef TIDEMARK_WITH_MPI

TEST(MpiLaunch, several_launches_of_two_ranks_make_a_report_each) {
  const Place place;
  const Ran ran = run_program(
      under_mpirun(2, run_arguments(place, {"--launches", "3", "--cases", "*.bank_conflicts",
                                            "--cases", "gemm.distributed.integer"})),
      kRoot);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_EQ(place.files(), (std::vector<std::string>{"r-1.h5", "r-2.h5", "r-3.h5"}));
  EXPECT_EQ(read_report(place.file("r-3.h5")).launch.ranks_reported, 2U);
}

TEST(MpiLaunch, ctrl_c_ends_the_whole_series) {
  const Place place;
  const RunningProgram running = start_program(
      under_mpirun(2, run_arguments(place, {"--launches", "3", "--cases", "load.tile.rank1"})),
      with_hook("slow@load.tile.rank1"));
  ASSERT_TRUE(appears(place.file("r-2.h5.run"), R"("type":"start")"));
  ::kill(running.pid, SIGINT);
  EXPECT_NE(finish_program(running).exit, 0);
  ASSERT_TRUE(appears_file(place.file("r-2.h5")));
  EXPECT_TRUE(read_report(place.file("r-1.h5")).launch.complete);
  EXPECT_FALSE(read_report(place.file("r-2.h5")).launch.complete);
  EXPECT_FALSE(std::filesystem::exists(place.file("r-3.h5")));
}

#endif

}  // namespace
}  // namespace tidemark
