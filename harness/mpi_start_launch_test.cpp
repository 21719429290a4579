// Ranks that never get to MPI_Init, and what an mpirun that was killed leaves for the next one.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/relay/job_processes.hpp"
#include "harness/testing/launch_place.hpp"

namespace tidemark {
namespace {

#ifdef TIDEMARK_WITH_MPI

/// ompi.HOST.UID/pid.N below the TMPDIR of an mpirun.
int sessions_in(const std::string& folder) {
  int found = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    found += entry.path().filename().string().starts_with("pid.") ? 1 : 0;
  return found;
}

TEST(MpiStart, a_rank_that_is_stopped_before_mpi_starts_ends_the_others_and_is_named) {
  const Place place;
  Arguments arguments =
      under_mpirun(1, run_arguments(place, {"--cases", "zfill.whole", "--time-limit", "0.001"}));
  for (const char* word : {":", "-n", "1", "sh", "-c", "kill -STOP $$; sleep 100"})
    arguments.emplace_back(word);
  const Ran ran = run_program(arguments, kRoot, 80);
  EXPECT_EQ(ran.exit, 5) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("of the ranks of this host, stopped: 1 (process "), std::string::npos)
      << ran.err;
}

TEST(MpiStart, what_a_killed_mpirun_left_is_removed_by_the_next_run) {
  if (mpi_places().sessions.empty()) GTEST_SKIP() << "a container, where nothing is removed";
  const Place place;
  Environment environment = with_hook("slow@zfill.whole");
  environment.emplace_back("TMPDIR", place.file("t"));
  std::filesystem::create_directory(place.file("t"));
  const RunningProgram running =
      start_program(under_mpirun(2, run_arguments(place, {"--cases", "zfill.whole"})), environment);
  ASSERT_TRUE(appears(place.journals(), "\"case\":\"zfill.whole\""));
  const pid_t rank_0 = rank_pid(running.pid, 0), rank_1 = rank_pid(running.pid, 1);
  // A rank that notices the death of mpirun removes the session folder itself.
  for (const pid_t rank : {rank_0, rank_1}) kill(rank, SIGSTOP);
  for (const pid_t pid : {running.pid, rank_0, rank_1}) kill(pid, SIGKILL);
  finish_program(running);
  ASSERT_EQ(sessions_in(place.file("t")), 1);
  environment = kRoot;
  environment.emplace_back("TMPDIR", place.file("t"));
  run_program({TIDEMARK_BINARY, "run", "--device", "virtual", "--cases", "zfill.whole", "--out",
               place.file("next.h5")},
              environment);
  EXPECT_EQ(sessions_in(place.file("t")), 0);
}

/// `tidemark run --ranks 2` at a case that takes three seconds, with its own TMPDIR.
RunningProgram started_by_ranks(const Place& place) {
  Environment environment = with_hook("slow@zfill.whole");
  environment.emplace_back("TMPDIR", place.file("t"));
  std::filesystem::create_directory(place.file("t"));
  RunningProgram running = start_program(
      command(run_arguments(place, {"--cases", "zfill.whole", "--ranks", "2"})), environment);
  EXPECT_TRUE(appears(place.journals(), "\"gpu\":1,\"case\":\"zfill.whole\""));
  return running;
}

TEST(MpiStart, ranks_outlives_a_killed_mpirun_and_leaves_nothing_but_the_report) {
  const Place place;
  const RunningProgram running = started_by_ranks(place);
  const std::vector<pid_t> ranks = descendants(running.pid, "run");
  const std::vector<pid_t> mpirun = descendants(running.pid, "--bind-to");
  ASSERT_EQ(mpirun.size(), 1U);
  kill(mpirun[0], SIGKILL);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 137) << ran.out << ran.err;
  for (const pid_t rank : ranks) EXPECT_TRUE(ends(rank)) << rank;
  EXPECT_FALSE(read_report(place.out()).launch.complete);
  if (mpi_places().sessions.empty()) GTEST_SKIP() << "a container, where nothing is removed";
  EXPECT_EQ(sessions_in(place.file("t")), 0);
}

TEST(MpiStart, ctrl_c_gives_the_ranks_of_ranks_the_time_to_report) {
  const Place place;
  const RunningProgram running = started_by_ranks(place);
  kill(-running.pid, SIGINT);  // as a terminal does
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  EXPECT_EQ(read_report(place.out()).launch.incomplete_reason, "ranks 0-1: stopped by SIGINT");
}

TEST(MpiStart, a_second_ctrl_c_is_no_failed_case) {
  const Place place;
  const RunningProgram running = started_by_ranks(place);
  kill(running.pid, SIGINT);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // two at once would be one
  kill(running.pid, SIGINT);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
}

TEST(MpiStart, a_signal_to_mpirun_itself_is_no_failed_case) {
  const Place place;
  const RunningProgram running = started_by_ranks(place);
  const std::vector<pid_t> mpirun = descendants(running.pid, "--bind-to");
  ASSERT_EQ(mpirun.size(), 1U);
  kill(mpirun[0], SIGTERM);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
}

#endif

}  // namespace
}  // namespace tidemark
