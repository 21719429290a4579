// Every fault of a multicast must be seen on some row, and none where its step does not occur.
#include "kernels/virtual/multicast_load_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/virtual/multicast_load.hpp"

namespace tidemark::kernels {
namespace {

bool differ(const RunResult& a, const RunResult& b) {
  return a.fault != b.fault || a.bytes != b.bytes || a.surroundings != b.surroundings ||
         a.cta_ledgers != b.cta_ledgers;
}

bool is_visible(Fault fault, const MulticastLoad& row) {
  return differ(run_virtual_multicast_load(row, fault), run_virtual_multicast_load(row, kNoFault));
}

TileLoad inside() {
  return {.map = {.extent = {96, 20}, .stride = {112}, .box = {64, 8}},
          .at = {16, 5},
          .payload = {.seed = 5}};
}

// One block, which issues to itself, as a tile load would: no step of a multicast shows.
MulticastLoad plainest() { return {.load = inside(), .cluster = {1, 1, 1}}; }

std::vector<MulticastLoad> rows() {
  TileLoad over_edge = inside();
  over_edge.at = {64, 15};  // 32 columns and 3 rows hang out
  TileLoad swizzled = inside();
  swizzled.map.swizzle = Swizzle::b64;
  return {
      plainest(),
      {.load = inside(), .cluster = {4, 1, 1}, .mask = 0b0110, .issuer = 0},
      {.load = inside(), .cluster = {4, 1, 1}, .mask = 0b1011, .issuer = 1},
      {.load = inside(), .cluster = {8, 1, 1}, .mask = 0b10010000, .issuer = 4},
      {.load = inside(), .cluster = {2, 2, 2}, .mask = 0b01000110, .issuer = 0},
      {.load = over_edge, .cluster = {2, 1, 1}, .mask = 0b11, .issuer = 0},
      {.load = swizzled, .cluster = {2, 1, 1}, .mask = 0b11, .issuer = 1},
      {.load = inside(), .cluster = {4, 1, 1}, .mask = 0b1111, .issuer = 0, .slices = 4},
      {.load = inside(), .cluster = {2, 1, 1}, .mask = 0b11, .issuer = 0, .late_arm = true},
  };
}

TEST(MulticastFaults, ValuesAscendFrom400To499) {
  std::uint32_t before = 400;
  for (const FaultInfo& info : multicast_load_faults()) {
    EXPECT_GT(static_cast<std::uint32_t>(info.fault), before) << info.name;
    before = static_cast<std::uint32_t>(info.fault);
  }
  EXPECT_LT(before, 500U);
  EXPECT_GE(multicast_load_faults().size(), 14U);
}

TEST(MulticastFaults, EachIsVisibleOnSomeRow) {
  const std::vector<MulticastLoad> all = rows();
  for (const FaultInfo& info : multicast_load_faults())
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const MulticastLoad& row) {
      return is_visible(info.fault, row);
    })) << info.name;
}

TEST(MulticastFaults, NoTwoDoTheSameOnEveryRow) {
  const std::vector<MulticastLoad> all = rows();
  const auto faults = multicast_load_faults();
  std::vector<std::vector<RunResult>> results;
  for (const FaultInfo& info : faults) {
    results.emplace_back();
    for (const MulticastLoad& row : all)
      results.back().push_back(run_virtual_multicast_load(row, info.fault));
  }
  for (std::size_t i = 0; i < faults.size(); ++i)
    for (std::size_t j = i + 1; j < faults.size(); ++j) {
      bool unlike = false;
      for (std::size_t row = 0; row < all.size(); ++row)
        unlike = unlike || differ(results[i][row], results[j][row]);
      EXPECT_TRUE(unlike) << faults[i].name << " and " << faults[j].name;
    }
}

TEST(MulticastFaults, HarmlessWhereTheirStepDoesNotOccur) {
  const std::vector<Fault> idle = {
      kFaultMulticastIssuerServed,        kFaultMulticastNextServed,
      kFaultMulticastIssuerOnly,          kFaultMulticastMaskReversed,
      kFaultMulticastMaskFourBits,        kFaultMulticastMaskByX,
      kFaultMulticastMaskZFastest,        kFaultMulticastMaskFromIssuer,
      kFaultMulticastCreditToIssuer,      kFaultMulticastCreditToNext,
      kFaultMulticastCreditSplit,         kFaultMulticastCreditInsideOnly,
      kFaultMulticastNegativeClamped,     kFaultMulticastWrongWindow,
      kFaultMulticastFillAtIssuerOnly,    kFaultMulticastSlicesExchanged,
      kFaultMulticastSwizzleAtIssuerOnly, kFaultMulticastLastSliceMissed,
      kFaultMulticastSlicesPiledUp};
  for (const Fault fault : idle)
    EXPECT_FALSE(is_visible(fault, plainest())) << static_cast<int>(fault);
}

TEST(MulticastFaults, EachCanBeSaidInALine) {
  for (const FaultInfo& info : multicast_load_faults()) {
    EXPECT_EQ(info.op, OpKind::multicast_load);
    EXPECT_TRUE(info.name.starts_with("multicast_")) << info.name;
    EXPECT_NE(info.step.find(": "), std::string_view::npos) << info.name;
  }
}

// The faults that come near being right, each against the one thing it changes.

TEST(MulticastFaults, ChunkDroppedLeavesSixteenBytesOfPoisonInTheHighestBlockAlone) {
  const MulticastLoad row = rows()[2];
  const RunResult right = run_virtual_multicast_load(row, kNoFault);
  const RunResult wrong = run_virtual_multicast_load(row, kFaultMulticastChunkDropped);
  EXPECT_EQ(wrong.fault, DeviceFault::none);
  EXPECT_EQ(wrong.cta_ledgers, right.cta_ledgers);
  for (std::size_t i = 0; i < right.bytes.size(); ++i) {
    const bool dropped = i >= 3 * 2560 + 1024 + 512 - 16 && i < 3 * 2560 + 1024 + 512;
    if (!dropped) {
      ASSERT_EQ(wrong.bytes[i], right.bytes[i]) << i;
    }
  }
  EXPECT_NE(wrong.bytes, right.bytes);
}

TEST(MulticastFaults, CreditTwiceShowsInTheLedgerOfTheLowestBlockAlone) {
  const MulticastLoad row = rows()[2];
  const RunResult right = run_virtual_multicast_load(row, kNoFault);
  const RunResult wrong = run_virtual_multicast_load(row, kFaultMulticastCreditTwice);
  EXPECT_EQ(wrong.cta_ledgers[0].credited, 1024U);
  EXPECT_EQ(wrong.cta_ledgers[1], right.cta_ledgers[1]);
  EXPECT_EQ(wrong.cta_ledgers[3], right.cta_ledgers[3]);
}

TEST(MulticastFaults, CreditToNextLeavesAllBytesRight) {
  const MulticastLoad row = rows()[1];  // blocks 1 and 2 of four
  const RunResult right = run_virtual_multicast_load(row, kNoFault);
  const RunResult wrong = run_virtual_multicast_load(row, kFaultMulticastCreditToNext);
  EXPECT_EQ(wrong.bytes, right.bytes);
  EXPECT_EQ(wrong.cta_ledgers[1].credited, 0U);
  EXPECT_EQ(wrong.cta_ledgers[2].credited, 1024U);
}

TEST(MulticastFaults, CreditSplitAddsUpToOneBox) {
  const RunResult right = run_virtual_multicast_load(rows()[2], kNoFault);
  const RunResult wrong = run_virtual_multicast_load(rows()[2], kFaultMulticastCreditSplit);
  EXPECT_EQ(wrong.fault, DeviceFault::timeout);
  EXPECT_EQ(wrong.cta_ledgers[0].credited, 176U);  // 11, 11 and 10 of 32 chunks
  EXPECT_EQ(wrong.cta_ledgers[1].credited, 176U);
  EXPECT_EQ(wrong.cta_ledgers[3].credited, 160U);
  EXPECT_EQ(wrong.bytes, right.bytes);
}

TEST(MulticastFaults, IssuerServedGivesEachIssuerItsOwnSlice) {
  MulticastLoad row = rows()[7];
  row.mask = 0b0001;
  row.issuer = 2;
  row.slices = 2;  // by blocks 2 and 3
  const RunResult wrong = run_virtual_multicast_load(row, kFaultMulticastIssuerServed);
  EXPECT_EQ(wrong.cta_ledgers[0].credited, 512U);
  EXPECT_EQ(wrong.cta_ledgers[1].credited, 0U);
  EXPECT_EQ(wrong.cta_ledgers[2].credited, 256U);
  EXPECT_EQ(wrong.cta_ledgers[3].credited, 256U);
}

}  // namespace
}  // namespace tidemark::kernels
