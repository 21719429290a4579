// A loop that is split over the cores visits everything once.
#include "suite/gemm/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace tidemark::suite {
namespace {

/// How often each of `count` things is visited.
std::vector<int> visits(std::uint64_t count, std::uint64_t work) {
  std::vector<std::atomic<int>> visited(count);
  in_parallel(count, work, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) ++visited.at(i);
  });
  return {visited.begin(), visited.end()};
}

TEST(InParallel, VisitsEachThingOnceWhenTheWorkIsLarge) {
  EXPECT_EQ(visits(1001, std::uint64_t{1} << 40), std::vector<int>(1001, 1));
}

TEST(InParallel, VisitsEachThingOnceWhenTheWorkIsSmall) {
  EXPECT_EQ(visits(1001, 5), std::vector<int>(1001, 1));
}

TEST(InParallel, CountsOnlyTheCpusThatThisThreadIsBoundTo) {
  std::uint64_t cores = 0;
  std::jthread([&cores] {
    cpu_set_t set;
    ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &set)) ++cpu;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
    cores = usable_cores();
  }).join();
  EXPECT_EQ(cores, 1U);
}

TEST(InParallel, VisitsNothingWhereThereIsNothing) {
  int calls = 0;
  in_parallel(0, std::uint64_t{1} << 40, [&](std::uint64_t, std::uint64_t) { ++calls; });
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace tidemark::suite
