// What is said of ranks that do not come to MPI_Init.
#include "harness/relay/job_processes.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace tidemark {
namespace {

TEST(StartTrouble, names_the_ranks_that_are_stopped) {
  EXPECT_EQ(start_trouble(300,
                          {{.rank = 4, .process = 70},
                           {.rank = 5, .process = 71, .stopped = true},
                           {.rank = 7, .process = 73, .stopped = true}},
                          4, 8),
            "MPI_Init has not returned for 300 s: of the ranks of this host, stopped: 5 (process "
            "71), 7 (process 73); continue them with kill -CONT, or start again");
}

TEST(StartTrouble, counts_the_ranks_that_are_gone) {
  EXPECT_EQ(start_trouble(20, {{.rank = 0, .process = 70}, {.rank = 2, .process = 72}}, 3, 3),
            "MPI_Init has not returned for 20 s: of the 3 ranks of this host only 2 are there; "
            "see what ended the others, and start again");
}

TEST(StartTrouble, points_to_other_hosts_where_all_of_this_one_run) {
  EXPECT_EQ(start_trouble(20, {{.rank = 0, .process = 70}, {.rank = 1, .process = 71}}, 2, 16),
            "MPI_Init has not returned for 20 s: the 2 ranks of this host run; look for one of the "
            "other 14 that is stopped or cannot be reached, on the other hosts");
}

TEST(StartTrouble, points_to_what_came_before_tidemark_where_all_run) {
  const std::string text = start_trouble(20, {{.rank = 0, .process = 70}}, 1, 1);
  EXPECT_NE(text.find("all ranks of this host run"), std::string::npos) << text;
}

TEST(StartTrouble, knows_no_ranks_without_a_launcher_that_names_the_job) {
  if (std::getenv("PMIX_NAMESPACE") != nullptr) GTEST_SKIP() << "under a launcher";
  EXPECT_TRUE(ranks_of_this_host().empty());
}

TEST(StartWatch, that_is_over_in_time_ends_nothing) { const StartWatch watch(60); }

// A launcher that starts a rank and ends once the rank watches. The pipe tells when the rank ends.
TEST(StartWatch, ends_the_process_when_the_launcher_is_gone) {
  std::array<int, 2> watched{}, alive{};
  ASSERT_EQ(::pipe(watched.data()) + ::pipe(alive.data()), 0);
  const pid_t launcher = ::fork();
  ASSERT_GE(launcher, 0);
  if (launcher == 0) {
    if (::fork() == 0) {
      const StartWatch watch(60);
      ::close(watched[1]);
      ::sleep(60);
      ::_exit(0);
    }
    ::close(watched[1]);
    char none = 0;
    ::_exit(::read(watched[0], &none, 1) == 0 ? 0 : 1);
  }
  ::close(watched[1]);
  ::close(alive[1]);
  ASSERT_EQ(::waitpid(launcher, nullptr, 0), launcher);
  pollfd end{.fd = alive[0], .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&end, 1, 30'000), 1);
  ::close(watched[0]);
  ::close(alive[0]);
}

TEST(StartWatchDeathTest, ends_the_process_with_exit_code_5) {
  EXPECT_EXIT(
      {
        const StartWatch watch(0.05);
        ::sleep(20);
      },
      testing::ExitedWithCode(5), "MPI_Init has not returned for 0 s");
}

}  // namespace
}  // namespace tidemark
