// Tests of child processes: what they have, what they said, how they ended, and that no wait is
// unbounded.
#include "harness/base/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

TEST(ChildProcess, what_outlives_its_parent_has_a_session_of_its_own) {
  ChildProcess child({.program = "/bin/sleep",
                      .arguments = {"sleep", "60"},
                      .fds = {-1, -1, -1},
                      .bond = Bond::outlives_parent});
  // Signals are settled before the exec: once the program is sleep, all is as it will be.
  const auto program = std::filesystem::path("/proc") / std::to_string(child.pid()) / "exe";
  const auto itself = std::filesystem::read_symlink("/proc/self/exe");
  std::error_code ignored;
  for (int i = 0; i < 1000 && std::filesystem::read_symlink(program, ignored) == itself; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(::getsid(child.pid()), child.pid());
  child.signal(SIGTERM);  // ignored, so that it takes SIGKILL
  ASSERT_TRUE(child.kill_within(100));
  EXPECT_EQ(child.ended()->signal, SIGKILL);
}

TEST(ChildProcess, a_child_has_nothing_of_the_launcher_and_only_its_own_descriptors) {
  ::setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  ::setenv("PMIX_RANK", "1", 1);
  const Pipe stray = make_pipe();
  const int inherited = ::dup(stray.read.get());  // without close-on-exec
  // A shell in the place of the worker says what it has been given.
  const Pipe said = make_pipe();
  ChildProcess child({.program = "/bin/sh",
                      .arguments = {"sh", "-c",
                                    "env | grep -c -E '^(OMPI|PMIX)_' >&2;"
                                    "echo $A >&2; ls /proc/self/fd | wc -l >&2"},
                      .settings = {{"A", "b"}},
                      .fds = {-1, said.write.get(), said.write.get()}});
  ASSERT_TRUE(child.ended_within(100));
  ::unsetenv("OMPI_COMM_WORLD_SIZE");
  ::unsetenv("PMIX_RANK");
  ::close(inherited);
  std::string text(64, 0);
  const ssize_t got = ::read(said.read.get(), text.data(), text.size());
  // ls has 0, 1, 2 and the folder it lists.
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(got)), "0\nb\n4\n");
}

TEST(RunBounded, returns_both_outputs_and_the_status) {
  const ChildAnswer answer = run_bounded({"/bin/sh", "-c", "echo yes; echo no >&2; exit 3"}, 20);
  EXPECT_TRUE(answer.started);
  EXPECT_FALSE(answer.timed_out);
  EXPECT_EQ(answer.status, 3);
  EXPECT_EQ(answer.out, "yes\n");
  EXPECT_EQ(answer.err, "no\n");
}

TEST(RunBounded, reads_more_than_a_pipe_holds) {
  const ChildAnswer answer = run_bounded({"/bin/sh", "-c", "head -c 300000 /dev/zero"}, 20);
  EXPECT_EQ(answer.out.size(), 300000U);
}

TEST(RunBounded, says_which_signal_ended_it) {
  EXPECT_EQ(run_bounded({"/bin/sh", "-c", "kill -SEGV $$"}, 20).status, 139);
}

TEST(RunBounded, says_when_the_program_is_not_there) {
  EXPECT_FALSE(run_bounded({"/no/such/program"}, 20).started);
}

TEST(RunBounded, kills_a_child_that_does_not_answer) {
  const ChildAnswer answer = run_bounded({"/bin/sh", "-c", "echo begun; sleep 100"}, 3);
  EXPECT_TRUE(answer.timed_out);
  EXPECT_EQ(answer.out, "begun\n");
  EXPECT_EQ(answer.status, 137);
}

TEST(RunBounded, kills_a_child_that_closed_its_outputs_and_goes_on) {
  const ChildAnswer answer = run_bounded({"/bin/sh", "-c", "exec sleep 100 >&- 2>&-"}, 0.3);
  EXPECT_TRUE(answer.timed_out);
  EXPECT_EQ(answer.status, 137);
}

TEST(RunBounded, does_not_wait_for_a_grandchild_that_holds_the_pipe) {
  const ChildAnswer answer = run_bounded({"/bin/sh", "-c", "setsid sleep 60 & echo x"}, 3);
  EXPECT_TRUE(answer.timed_out);
  EXPECT_EQ(answer.out, "x\n");
}

/// Kills itself the first `times` times that it runs, then says yes.
std::string killed_at_first(const ScratchFolder& folder, int times) {
  const std::string script = folder.file("asked");
  std::ofstream(script) << "#!/bin/sh\necho x >>" << folder.file("times") << "\n[ $(wc -l <"
                        << folder.file("times") << ") -gt " << times
                        << " ] || kill -KILL $$\necho yes\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  return script;
}

TEST(AskBounded, asks_again_where_the_child_was_killed_from_outside) {
  const ScratchFolder folder;
  const ChildAnswer answer = ask_bounded({killed_at_first(folder, 1)}, 20);
  EXPECT_EQ(answer.status, 0);
  EXPECT_EQ(answer.out, "yes\n");
}

TEST(AskBounded, asks_no_third_time) {
  const ScratchFolder folder;
  EXPECT_EQ(ask_bounded({killed_at_first(folder, 2)}, 20).status, 137);
}

}  // namespace
}  // namespace tidemark
