// Tests of the process that starts mpirun, with shells in its place.
#include "harness/mpirun/launcher_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "harness/testing/launch_place.hpp"

namespace tidemark {
namespace {

/// A child that waits for this launcher, as the program does.
pid_t waiting_for(const std::vector<std::string>& words, const LauncherBounds& bounds = {}) {
  const pid_t child = fork();
  if (child == 0) _exit(run_launcher(words, bounds).code);
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

TEST(LauncherProcess, keeps_the_text_of_a_launcher_whose_ranks_do_not_report) {
  const LauncherEnd end = run_launcher({"sh", "-c", "echo no slots >&2; printf more >&2; exit 1"});
  EXPECT_EQ(end.code, 1);
  EXPECT_FALSE(end.reported);
  EXPECT_EQ(end.text, "no slots\nmore");
}

const std::string kRuler = std::string(74, '-') + '\n';

TEST(LauncherText, is_kept_until_a_rank_reports_and_its_report_is_not_passed_on) {
  LauncherText text;
  EXPECT_EQ(text.take("[node1] a warn"), "");
  EXPECT_EQ(text.take("ing\n"), "");
  EXPECT_FALSE(text.reported());
  EXPECT_EQ(text.take(kRankReport), "[node1] a warning\n");
  EXPECT_TRUE(text.reported());
  EXPECT_EQ(text.take("another\nand"), "another\n");
  EXPECT_EQ(text.rest(), "and");
}

TEST(LauncherText, that_is_a_line_of_a_rank_is_its_report) {
  LauncherText text;
  EXPECT_EQ(text.take("tidemark: --out x.h5: exists\n"), "tidemark: --out x.h5: exists\n");
  EXPECT_TRUE(text.reported());
}

TEST(LauncherText, has_the_last_code_of_a_rank_which_is_not_passed_on) {
  LauncherText text;
  EXPECT_EQ(text.code(), std::nullopt);
  EXPECT_EQ(text.take(std::string(kRankReport) + "tidemark-exit-code-1\n"), "");
  EXPECT_EQ(text.code(), 1);
  EXPECT_EQ(text.take("tidemark-exit-code-70\n"), "");
  EXPECT_EQ(text.code(), 70);
}

TEST(LauncherText, loses_the_blocks_about_exit_codes_of_ranks_that_reported_and_no_other) {
  const std::string warning = kRuler + "WARNING: no such interface\n\n  eth7\n" + kRuler;
  LauncherText text;
  EXPECT_EQ(text.take(std::string(kRankReport) + warning), warning);
  EXPECT_EQ(text.take(kRuler + "Primary job  terminated normally, but 1 process returned\n" +
                      "a non-zero exit code.\n" + kRuler),
            "");
  EXPECT_EQ(text.take(kRuler + "mpirun detected that one or more processes exited with non-zero " +
                      "status, thus causing\nthe job to be terminated.\n" + kRuler),
            "");
  EXPECT_EQ(text.take(kRuler + "mpirun noticed that process rank 1 with PID 0 on node a exited " +
                      "on signal 9 (Killed).\n" + kRuler + "after\n"),
            "after\n");
  EXPECT_EQ(text.rest(), "");
}

TEST(LauncherText, keeps_the_block_about_a_rank_that_died_before_any_reported) {
  const std::string died =
      kRuler + "mpirun noticed that process rank 0 exited on signal 9 (Killed).\n" + kRuler;
  LauncherText text;
  EXPECT_EQ(text.take(died), "");
  EXPECT_EQ(text.rest(), died);
}

}  // namespace
}  // namespace tidemark
