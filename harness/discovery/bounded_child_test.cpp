// Tests of the bounded child: what it said, how it ended, and that nobody waits for it.
#include "harness/discovery/bounded_child.hpp"

#include <gtest/gtest.h>

#include <chrono>

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

}  // namespace
}  // namespace tidemark::harness
