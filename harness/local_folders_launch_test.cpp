// Launches whose ranks each write into a folder of their own, as on hosts that share none.
#include <gtest/gtest.h>

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/relay/mesh.hpp"
#include "harness/testing/launch_place.hpp"
#include "reports/journal/journal.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {
namespace {

#ifdef TIDEMARK_WITH_MPI

/// The folder of a rank; makes it.
std::string folder_of(const Place& place, int rank) {
  const std::string folder = place.file("host-" + std::to_string(rank));
  std::filesystem::create_directory(folder);
  return folder;
}

Arguments in_folders_of_their_own(const Place& place, int ranks,
                                  const Arguments& more = {"--cases", "load.tile.rank?"}) {
  Arguments all = {"mpirun", "-q", "--oversubscribe"};
  for (int rank = 0; rank < ranks; ++rank) {
    if (rank > 0) all.emplace_back(":");
    const Arguments own = {
        "-n",      "1",     "--wdir", folder_of(place, rank), TIDEMARK_BINARY, "run", "--device",
        "virtual", "--out", "r.h5"};
    all.insert(all.end(), own.begin(), own.end());
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

std::vector<std::string> files_of(const Place& place, int rank) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(place, rank)))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

std::string journals_of(const Place& place, int rank) {
  return folder_of(place, rank) + "/r.h5.run";
}

/// Waits until every rank is in the third case and rank 0 has heard so of the others.
bool all_in_third_case(const Place& place, int ranks) {
  const std::string third = "\"case\":\"load.tile.rank3\"";
  if (!appears(journals_of(place, 0), third)) return false;
  const double until = monotonic_s() + 30;
  for (int heard = 1; heard < ranks && monotonic_s() < until; rest()) {
    heard = 1;
    const ReceivedIndex received(journals_of(place, 0));
    for (const std::uint32_t rank : received.ranks())
      heard += received.lines(rank).find(third) == std::string::npos ? 0 : 1;
    if (heard == ranks) return true;
  }
  return ranks == 1;
}

/// The outcomes in the journal that a rank left in its own folder.
std::vector<OutcomeRecord> journalled(const Place& place, int rank) {
  std::ifstream file(journals_of(place, rank) + "/rank-0000" + std::to_string(rank) + ".jsonl");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<OutcomeRecord> outcomes;
  for (const Record& record : parse_journal(text).records) {
    if (const auto* outcome = std::get_if<OutcomeRecord>(&record)) outcomes.push_back(*outcome);
  }
  return outcomes;
}

/// On 1 to 8 ranks.
class LocalFolders : public testing::TestWithParam<int> {};

TEST_P(LocalFolders, what_ranks_had_done_is_in_the_report_when_the_last_is_killed) {
  const Place place;
  const int ranks = GetParam();
  Environment environment = with_hook("slow@load.tile.rank3");
  environment.emplace_back("TIDEMARK_TEST_DELAYS", std::to_string(ranks));
  const RunningProgram running = start_program(in_folders_of_their_own(place, ranks), environment);
  ASSERT_TRUE(all_in_third_case(place, ranks));
  kill(rank_pid(running.pid, ranks - 1), SIGKILL);
  finish_program(running);
  const std::string out = folder_of(place, 0) + "/r.h5";
  ASSERT_TRUE(appears_file(out));
  const Report report = read_report(out);
  EXPECT_FALSE(report.launch.complete);
  EXPECT_EQ(report.launch.ranks_reported, static_cast<std::uint32_t>(ranks));
  const std::string last = "rank " + std::to_string(ranks - 1) + " (";
  EXPECT_NE(report.launch.incomplete_reason.find(last), std::string::npos)
      << report.launch.incomplete_reason;
  const auto results = results_of(report);
  for (int rank = 1; rank < ranks; ++rank) {  // of rank 0 the journal is gone: it is in the report
    const std::vector<OutcomeRecord> outcomes = journalled(place, rank);
    EXPECT_GE(outcomes.size(), 2U);
    for (const OutcomeRecord& outcome : outcomes) {
      const std::string name = outcome.case_name + "@" + std::to_string(outcome.gpu);
      EXPECT_EQ(results.at(name)->verdict, outcome.verdict) << name;
    }
  }
  EXPECT_EQ(results.at("load.tile.rank2@0")->verdict, Verdict::pass);
}

TEST_P(LocalFolders, a_run_that_ends_leaves_its_reports_alone) {
  const Place place;
  Environment environment = kRoot;
  environment.emplace_back("TIDEMARK_TEST_DELAYS", std::to_string(GetParam()));
  const Ran ran = run_program(
      in_folders_of_their_own(
          place, GetParam(),
          {"--launches", "2", "--cases", "load.tile.rank?", "gemm.distributed.integer"}),
      environment);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_EQ(files_of(place, 0), (std::vector<std::string>{"r-1.h5", "r-2.h5"}));
  for (int rank = 1; rank < GetParam(); ++rank) EXPECT_TRUE(files_of(place, rank).empty());
  EXPECT_TRUE(read_report(folder_of(place, 0) + "/r-1.h5").launch.complete);
  EXPECT_TRUE(read_report(folder_of(place, 0) + "/r-2.h5").launch.complete);
}

INSTANTIATE_TEST_SUITE_P(Launch, LocalFolders, testing::Range(1, 9));

TEST(Launch, what_other_ranks_had_done_is_in_the_report_when_rank_0_is_killed) {
  const Place place;
  const RunningProgram running =
      start_program(in_folders_of_their_own(place, 3), with_hook("minute@load.tile.rank3"));
  ASSERT_TRUE(all_in_third_case(place, 3));
  kill(rank_pid(running.pid, 0), SIGKILL);
  finish_program(running);
  ASSERT_TRUE(appears_file(folder_of(place, 0) + "/r.h5"));
  const Report report = read_report(folder_of(place, 0) + "/r.h5");
  const auto results = results_of(report);
  for (const char* name : {"load.tile.rank2@0", "load.tile.rank2@1", "load.tile.rank2@2"})
    EXPECT_EQ(results.at(name)->verdict, Verdict::pass) << name;
}

TEST(Launch, ranks_in_folders_of_their_own_go_on_while_rank_0_is_stopped) {
  const Place place;
  const RunningProgram running =
      start_program(in_folders_of_their_own(place, 3), with_hook("slow@load.tile.rank2#0"));
  ASSERT_TRUE(appears(journals_of(place, 0), "\"case\":\"load.tile.rank2\""));
  const pid_t rank_0 = rank_pid(running.pid, 0);
  kill(rank_0, SIGSTOP);
  for (int rank = 1; rank < 3; ++rank)
    EXPECT_TRUE(appears(journals_of(place, rank), "{\"type\":\"end\"")) << rank;
  kill(rank_0, SIGCONT);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
}

TEST(Launch, ranks_that_share_a_folder_with_rank_0_send_it_no_lines) {
  const Place place;
  const RunningProgram running =
      start_program(under_mpirun(2, run_arguments(place, {"--cases", "load.tile.rank?"})),
                    with_hook("slow@load.tile.rank5"));
  ASSERT_TRUE(appears(place.journals(), "\"case\":\"load.tile.rank5\""));
  EXPECT_FALSE(std::filesystem::exists(place.journals() + "/received.jsonl"));
  EXPECT_EQ(finish_program(running).exit, 0);
}

#endif

}  // namespace
}  // namespace tidemark
