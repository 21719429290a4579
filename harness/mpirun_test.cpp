// Tests of how mpirun is found and called.
#include "harness/mpirun.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "harness/testing/launch_place.hpp"
#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

using Words = std::vector<std::string>;

TEST(MpirunCommand, takes_ranks_out_in_both_spellings) {
  EXPECT_EQ(mpirun_command("/bin/tidemark", {"run", "--ranks", "4", "--strict"}, 4, false),
            Words({"mpirun", "--bind-to", "none", "-n", "4", "/bin/tidemark", "run", "--strict"}));
  EXPECT_EQ(mpirun_command("/bin/tidemark", {"run", "--strict", "--ranks=4"}, 4, false),
            Words({"mpirun", "--bind-to", "none", "-n", "4", "/bin/tidemark", "run", "--strict"}));
}

TEST(MpirunCommand, oversubscribes_on_demand) {
  EXPECT_EQ(mpirun_command("t", {"run"}, 2, true),
            Words({"mpirun", "--bind-to", "none", "-n", "2", "--oversubscribe", "t", "run"}));
}

TEST(FindOnPath, takes_the_first_that_can_be_executed) {
  EXPECT_EQ(find_on_path("sh", "/no/such:/bin:/usr/bin"), "/bin/sh");
  EXPECT_EQ(find_on_path("passwd", "/etc:/no/such"), "");  // a file, but no program
  EXPECT_EQ(find_on_path("no-such-program", "/bin:/usr/bin"), "");
  EXPECT_EQ(find_on_path("sh", ""), "");
}

TEST(SaidBy, names_another_rank_than_0_and_its_host) {
  EXPECT_EQ(said_by(0, "no"), "no");
  EXPECT_EQ(said_by(3, "no").rfind("rank 3 on ", 0), 0U);
}

TEST(LauncherRank, is_what_the_launcher_says) {
  unsetenv("PMIX_RANK");
  unsetenv("PMI_RANK");
  unsetenv("SLURM_PROCID");
  unsetenv("OMPI_COMM_WORLD_RANK");
  EXPECT_EQ(launcher_rank(), std::nullopt);
  setenv("SLURM_PROCID", "3", 1);
  unsetenv("SLURM_STEP_ID");
  unsetenv("SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(launcher_rank(), std::nullopt);  // a batch script: srun has not been called
  setenv("SLURM_STEP_ID", "batch", 1);
  EXPECT_EQ(launcher_rank(), std::nullopt);
  setenv("SLURM_STEP_ID", "4294967291", 1);  // the batch step as a number
  EXPECT_EQ(launcher_rank(), std::nullopt);
  setenv("SLURM_STEP_ID", "0", 1);
  unsetenv("SLURM_TASK_PID");
  EXPECT_EQ(launcher_rank(), std::nullopt);  // left over from a step that is gone
  setenv("SLURM_TASK_PID", std::to_string(getppid()).c_str(), 1);
  EXPECT_EQ(launcher_rank(), 3U);
  setenv("OMPI_COMM_WORLD_RANK", "7", 1);
  unsetenv("OMPI_COMM_WORLD_SIZE");
  EXPECT_EQ(launcher_rank(), 3U);          // no mpirun, whatever the variable is from
  setenv("OMPI_COMM_WORLD_SIZE", "8", 1);  // mpirun inside a Slurm job
  EXPECT_EQ(launcher_rank(), 7U);
  setenv("OMPI_COMM_WORLD_RANK", "x", 1);
  EXPECT_EQ(launcher_rank(), 3U);
  unsetenv("OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_SIZE");
  unsetenv("SLURM_PROCID");
  unsetenv("SLURM_STEP_ID");
  unsetenv("SLURM_TASK_PID");
}

#ifdef TIDEMARK_WITH_MPI

/// The exit code of run_mpirun with this script as mpirun.
int code_with_mpirun(const std::string& script) {
  const ScratchFolder folder;
  std::ofstream(folder.file("mpirun")) << "#!/bin/sh\n" << script;
  std::filesystem::permissions(folder.file("mpirun"), std::filesystem::perms::owner_all);
  const std::string before = std::getenv("PATH");
  setenv("PATH", (folder.path() + ":" + before).c_str(), 1);
  const ExitCode code = run_mpirun({"run", "--ranks", "2"}, 2, false);
  setenv("PATH", before.c_str(), 1);
  unsetenv(kReportVariable);  // else later programs of this process print it
  return static_cast<int>(code);
}

const std::string kRuns = "echo tidemark-rank-0-runs >&2\n";

TEST(RunMpirun, the_code_1_of_mpirun_is_no_failed_case) {
  EXPECT_EQ(code_with_mpirun(kRuns + "exit 1"), 4);
  EXPECT_EQ(code_with_mpirun(kRuns + "echo tidemark-exit-code-4 >&2; exit 1"), 4);
}

TEST(RunMpirun, the_code_1_of_a_rank_is_a_failed_case) {
  EXPECT_EQ(code_with_mpirun(kRuns + "echo tidemark-exit-code-1 >&2; exit 1"), 1);
}

TEST(RunMpirun, other_codes_of_mpirun_stay) {
  EXPECT_EQ(code_with_mpirun(kRuns + "exit 137"), 137);
  EXPECT_EQ(code_with_mpirun(kRuns + "echo tidemark-exit-code-1 >&2; exit 137"), 137);
}

#endif

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

const std::string kRuler = std::string(74, '-') + '\n';

TEST(StartFailure, of_too_few_slots_counts_cores_and_names_the_option) {
  const std::string line = start_failure(
      {.code = 1, .text = kRuler + "There are not enough slots available in the system\n" + kRuler},
      8, 2);
  EXPECT_TRUE(has(line, "--ranks 8: ") && has(line, " 2 cores") &&
              has(line, "mpirun --oversubscribe --bind-to none -n 8 tidemark run"))
      << line;
}

TEST(StartFailure, of_root_names_the_variables_that_allow_it) {
  const std::string line =
      start_failure({.code = 1, .text = "You can add the --allow-run-as-root option\n"}, 2, 2);
  EXPECT_TRUE(has(line, "OMPI_ALLOW_RUN_AS_ROOT=1") && has(line, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"))
      << line;
}

TEST(StartFailure, of_a_folder_that_cannot_be_made_names_it) {
  setenv("TMPDIR", "/no/such/place", 1);
  const std::string line = start_failure({.code = 1, .text = "  orte_session_dir failed\n"}, 2, 2);
  unsetenv("TMPDIR");
  EXPECT_TRUE(has(line, "set TMPDIR ('/no/such/place')")) << line;
}

TEST(StartFailure, of_another_kind_quotes_the_first_paragraph) {
  const std::string text = kRuler + "mpirun was unable to launch an executable:\n\nmore\n" + kRuler;
  EXPECT_TRUE(has(start_failure({.code = 132, .text = text}, 2, 2),
                  ": mpirun was unable to launch an executable; "));
  EXPECT_TRUE(has(start_failure({.code = 132}, 2, 2), " 132: "));
}

TEST(LauncherSettings, leave_out_the_one_that_hides_why_nothing_starts) {
  if (launcher_rank()) GTEST_SKIP() << "under a launcher";
  setenv("OMPI_MCA_orte_execute_quiet", "1", 1);
  setenv("OMPI_MCA_tidemark_test", "2", 1);
  const auto settings = launcher_settings();
  unsetenv("OMPI_MCA_orte_execute_quiet");
  unsetenv("OMPI_MCA_tidemark_test");
  const auto given = [&](std::string_view name) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const auto& each) { return each.first == name; });
  };
  EXPECT_FALSE(given("OMPI_MCA_orte_execute_quiet"));
  EXPECT_TRUE(given("OMPI_MCA_tidemark_test"));
}

// Tests of the process that starts mpirun, with shells in its place.

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
