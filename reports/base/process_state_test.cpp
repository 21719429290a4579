// The processes of this host, as /proc says.
#include "reports/base/process_state.hpp"

#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/wait.h>

namespace tidemark {
namespace {

TEST(ProcessState, IsThatOfARunningProcess) {
  const auto state = process_state(::getpid());
  ASSERT_TRUE(state);
  EXPECT_EQ(state->letter, 'R');
  EXPECT_EQ(state->parent, ::getppid());
}

TEST(ProcessState, AZombieIsDead) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT);
  const auto state = process_state(child);
  ::waitpid(child, nullptr, 0);
  ASSERT_TRUE(state);
  EXPECT_TRUE(state->dead());
  EXPECT_EQ(state->parent, ::getpid());
}

TEST(ProcessState, NothingIsSaidOfAProcessThatIsGone) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(process_state(child));
  EXPECT_EQ(process_file(child, "environ"), "");
}

// As "stat" does of a process that ends after it was opened: address 0 of this one is not there.
TEST(ProcessState, AFileThatOpensAndCannotBeReadIsEmpty) {
  EXPECT_EQ(process_file(::getpid(), "mem"), "");
}

}  // namespace

}  // namespace tidemark
