// Tests of the bounded child: what it said, how it ended, and that nobody waits for it.
#include "harness/discovery/bounded_child.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "harness/room.hpp"
#include "reports/base/scratch_folder.hpp"

namespace tidemark::harness {
namespace {

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
}  // namespace tidemark::harness
