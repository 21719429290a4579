// Ranks that never get to MPI_Init, and what an mpirun that was killed leaves for the next one.
#include <gtest/gtest.h>

#include <filesystem>

#include "harness/launch_place.hpp"
#include "harness/relay/mpi_leftovers.hpp"

namespace tidemark::harness {
namespace {

#ifdef TIDEMARK_WITH_MPI

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
  kill(running.pid, SIGKILL);
  kill(rank_0, SIGKILL);
  kill(rank_1, SIGKILL);
  finish_program(running, 60);
  const auto sessions = [&] {  // ompi.HOST.UID/pid.N
    int found = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(place.file("t")))
      found += entry.path().filename().string().starts_with("pid.") ? 1 : 0;
    return found;
  };
  ASSERT_EQ(sessions(), 1);
  environment = kRoot;
  environment.emplace_back("TMPDIR", place.file("t"));
  run_program({TIDEMARK_BINARY, "run", "--device", "virtual", "--cases", "zfill.whole", "--out",
               place.file("next.h5")},
              environment, 60);
  EXPECT_EQ(sessions(), 0);
}

#endif

}  // namespace
}  // namespace tidemark::harness
