// What a barrier cycle on a device without a fault leaves behind, worked out by hand.
#include "kernels/virtual/barrier_cycle.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/error.hpp"
#include "kernels/virtual/barrier_cycle_faults.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::size_t kGuard = 1024, kWindow = 1024 + 64 + 1024;

// u8, rows of 64 bytes: three phases with 2 arrivals, then two with 5; phase n takes row n.
BarrierCycle two_lives() {
  BarrierCycle cycle{.map = {.extent = {64, 8}, .stride = {64}, .box = {64, 1}},
                     .payload = {.seed = 6}};
  cycle.step = {0, 1};
  cycle.life_count = 2;
  cycle.lives[0] = {.count = 2, .phases = 3};
  cycle.lives[1] = {.count = 5, .phases = 2};
  return cycle;
}

TEST(VirtualBarrierCycle, EachPhaseBringsItsRow) {
  const RunResult result = run_virtual_barrier_cycle(two_lives(), kNoFault);
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.bytes.size(), 5 * kWindow + 16);
  for (std::size_t phase = 0; phase < 5; ++phase)
    for (std::size_t x = 0; x < 64; ++x)
      ASSERT_EQ(result.bytes[kWindow * phase + kGuard + x],
                source_byte({.seed = 6}, kGuard + 64 * phase + x))
          << phase << ", " << x;
}

TEST(VirtualBarrierCycle, LedgerSaysNothingEarlyAndAllComplete) {
  const BarrierLedger ledger = run_virtual_barrier_cycle(two_lives(), kNoFault).ledger;
  EXPECT_EQ(ledger.phases, std::vector<BarrierPhase>(5, {.complete = true}));
  EXPECT_EQ(ledger.announced, 5U * 64);
  EXPECT_TRUE(ledger.complete);
}

TEST(VirtualBarrierCycle, TheMemoryIsPlainAfterEachLife) {
  const BarrierCycle cycle = two_lives();
  const RunResult result = run_virtual_barrier_cycle(cycle, kNoFault);
  std::uint64_t words[2];
  std::memcpy(words, &result.bytes[5 * kWindow], 16);
  EXPECT_EQ(words[0], cycle_plain_word(cycle, 0));
  EXPECT_EQ(words[1], cycle_plain_word(cycle, 1));
  EXPECT_NE(words[0], words[1]);
}

TEST(VirtualBarrierCycle, CopyFirstMakesNoDifference) {
  BarrierCycle cycle = two_lives();
  const RunResult behind = run_virtual_barrier_cycle(cycle, kNoFault);
  cycle.copy_first = true;
  const RunResult before = run_virtual_barrier_cycle(cycle, kNoFault);
  EXPECT_EQ(before.bytes, behind.bytes);
  EXPECT_EQ(before.ledger, behind.ledger);
}

TEST(VirtualBarrierCycle, APhaseThatSurvivesItsLifeReadsAsCompleteEarly) {
  const RunResult result = run_virtual_barrier_cycle(two_lives(), kFaultCyclePhaseSurvives);
  ASSERT_GE(result.ledger.phases.size(), 4U);
  EXPECT_FALSE(result.ledger.phases[0].early);
  EXPECT_TRUE(result.ledger.phases[3].early);
}

TEST(VirtualBarrierCycle, ACountThatSurvivesOpensBeforeTheLastArrival) {
  const RunResult result = run_virtual_barrier_cycle(two_lives(), kFaultCycleCountSurvives);
  EXPECT_FALSE(result.ledger.phases[2].before_last);
  EXPECT_TRUE(result.ledger.phases[3].before_last);
}

TEST(VirtualBarrierCycle, AMissingArrivalEndsTheCycleByItsBound) {
  const RunResult result = run_virtual_barrier_cycle(two_lives(), kFaultCycleArrivalLate);
  EXPECT_EQ(result.fault, DeviceFault::timeout);
  ASSERT_EQ(result.ledger.phases.size(), 1U);
  EXPECT_FALSE(result.ledger.phases[0].complete);
  EXPECT_EQ(result.bytes.size(), 5 * kWindow + 16);
  EXPECT_EQ(result.bytes[kWindow], 0);  // not reached
}

TEST(VirtualBarrierCycle, LostCreditShowsOnlyWhereTheCopyIsFirst) {
  BarrierCycle cycle = two_lives();
  EXPECT_EQ(run_virtual_barrier_cycle(cycle, kFaultCycleEarlyCreditLost).fault, DeviceFault::none);
  cycle.copy_first = true;
  EXPECT_EQ(run_virtual_barrier_cycle(cycle, kFaultCycleEarlyCreditLost).fault,
            DeviceFault::timeout);
}

TEST(VirtualBarrierCycle, RefusesALifeWithoutArrivals) {
  BarrierCycle cycle = two_lives();
  cycle.lives[1].count = 0;
  EXPECT_THROW(run_virtual_barrier_cycle(cycle, kNoFault), Error);
}

TEST(VirtualBarrierCycle, RefusesMoreLivesThanItHas) {
  BarrierCycle cycle = two_lives();
  cycle.life_count = 5;
  EXPECT_THROW(run_virtual_barrier_cycle(cycle, kNoFault), Error);
}

}  // namespace
}  // namespace tidemark::kernels
