// Tests of the process that starts mpirun, with shells in its place.
#include "harness/mpirun/launcher_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "harness/launch_place.hpp"

namespace tidemark::harness {
namespace {

/// A child that waits for this launcher, as the program does.
pid_t waiting_for(const std::vector<std::string>& words, const LauncherBounds& bounds = {}) {
  const pid_t child = fork();
  if (child == 0) _exit(run_launcher(words, bounds));
  return child;
}

int code_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(LauncherProcess, returns_the_exit_code) {
  EXPECT_EQ(code_of(waiting_for({"sh", "-c", "exit 4"})), 4);
  EXPECT_EQ(code_of(waiting_for({"sh", "-c", "kill -KILL $$"})), 128 + SIGKILL);
}

TEST(LauncherProcess, is_an_environment_error_where_it_does_not_start) {
  EXPECT_EQ(code_of(waiting_for({"/no/such/launcher"})), 5);
}

TEST(LauncherProcess, ends_a_launcher_that_stays_when_its_last_process_has_gone) {
  // A stopped one neither collects its children nor ends.
  EXPECT_EQ(code_of(waiting_for({"sh", "-c", "sleep 0.1 & kill -STOP $$"},
                                {.without_ranks = 0.2, .kill = 0.2})),
            4);
}

TEST(LauncherProcess, ends_a_launcher_that_starts_nothing) {
  EXPECT_EQ(code_of(waiting_for({"sh", "-c", "kill -STOP $$"}, {.start = 0.2, .kill = 0.2})), 4);
}

TEST(LauncherProcess, passes_a_signal_on_to_what_the_launcher_started) {
  const Place place;
  const std::string heard = place.file("heard"), ready = place.file("ready");
  const pid_t child = waiting_for({"sh", "-c",
                                   "(trap 'echo stopped >" + heard + "; exit' TERM; touch " +
                                       ready + "; while :; do sleep 0.01; done) & wait; exit 4"});
  ASSERT_TRUE(appears_file(ready));
  kill(child, SIGTERM);
  EXPECT_EQ(code_of(child), 4);
  EXPECT_TRUE(std::filesystem::exists(heard));
}

TEST(LauncherProcess, ends_a_launcher_that_stays_after_a_signal) {
  const Place place;
  const std::string ready = place.file("ready");
  const pid_t child =
      waiting_for({"sh", "-c", "trap '' TERM; touch " + ready + "; while :; do sleep 0.01; done"},
                  {.stop = 0.1, .kill = 0.1});
  ASSERT_TRUE(appears_file(ready));
  kill(child, SIGTERM);
  EXPECT_EQ(code_of(child), 128 + SIGKILL);
}

}  // namespace
}  // namespace tidemark::harness
