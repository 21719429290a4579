// Every fault of a multicast must be seen on some row, and none where its step does not occur.
#include "kernels/virtual/copies/tile_load_faults.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/ops/barriers.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

bool differ(const RunResult& a, const RunResult& b) {
  return a.fault != b.fault || a.bytes != b.bytes || a.surroundings != b.surroundings ||
         a.trace != b.trace;
}

// As on a GPU where other clusters run beside it.
RunResult run(const MulticastLoad& row, Fault fault) {
  return run_virtual_program(with_checks(program_of(row)), fault, true);
}

bool is_visible(Fault fault, const MulticastLoad& row) {
  return differ(run(row, fault), run(row, kNoFault));
}

TileLoad inside() {
  return {.map = {.extent = {96, 20}, .stride = {112}, .box = {64, 8}},
          .at = {16, 5},
          .payload = {.seed = 5}};
}

// One CTA, which issues to itself, as a tile load would: no step of a multicast shows.
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
      {.load = inside(), .cluster = {3, 1, 1}, .mask = 0b011, .issuer = 1},
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
    for (const MulticastLoad& row : all) results.back().push_back(run(row, info.fault));
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

// How many bytes differ, of all windows that were handed out.
std::size_t changed(const MulticastLoad& row, Fault fault) {
  const RunResult right = run(row, kNoFault), wrong = run(row, fault);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < right.bytes.size(); ++i)
    bytes += right.bytes[i] != wrong.bytes[i] ? 1 : 0;
  return bytes;
}

// The residue that the first meter of CTA `cta` finds.
std::int32_t residue(const MulticastLoad& row, Fault fault, std::uint32_t cta) {
  const Program program = with_checks(program_of(row));
  const RunResult result = run(row, fault);
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == Verb::meter && takes(program.steps[i], cta))
      return residue_of(result.trace[i * ctas_of(program) + cta]);
  ADD_FAILURE() << "no meter";
  return 0;
}

TEST(MulticastFaults, ChunkDroppedLeavesSixteenBytesOfPoisonInTheHighestCtaAlone) {
  const std::size_t bytes = changed(rows()[2], kFaultMulticastChunkDropped);
  EXPECT_GT(bytes, 4 * 12U);  // in each of its four snapshots; a byte may agree by chance
  EXPECT_LE(bytes, 4 * 16U);
}

TEST(MulticastFaults, CreditOutsideTheMaskIsWhatTheMeterFinds) {
  MulticastLoad row{.load = inside(), .cluster = {4, 1, 1}, .mask = 0b0011, .issuer = 0};
  row.load.map.box = {64, 4};
  EXPECT_EQ(residue(row, kFaultMulticastNextServed, 2), -512);  // two boxes of 256 bytes
  EXPECT_EQ(residue(row, kFaultMulticastNextServed, 3), 0);
}

TEST(MulticastFaults, CreditToNextLeavesTheLowestWaitingAndItsBytesRight) {
  const RunResult wrong = run(rows()[1], kFaultMulticastCreditToNext);  // CTAs 1 and 2 of four
  EXPECT_EQ(wrong.fault, DeviceFault::timeout);
  EXPECT_NE(wrong.note.find("the wait of CTA 1"), std::string::npos) << wrong.note;
}

TEST(MulticastFaults, CreditSplitCompletesNowhere) {
  const RunResult wrong = run(rows()[2], kFaultMulticastCreditSplit);
  EXPECT_EQ(wrong.fault, DeviceFault::timeout);
  EXPECT_NE(wrong.note.find("the wait of CTA 0"), std::string::npos) << wrong.note;
}

TEST(MulticastFaults, IssuerServedGivesEachIssuerItsOwnSlice) {
  MulticastLoad row = rows()[7];
  row.mask = 0b0001;
  row.issuer = 2;
  row.slices = 2;  // by CTAs 2 and 3
  EXPECT_EQ(residue(row, kFaultMulticastIssuerServed, 1), 0);
  EXPECT_EQ(residue(row, kFaultMulticastIssuerServed, 2), -512);
  EXPECT_EQ(residue(row, kFaultMulticastIssuerServed, 3), -512);
}

TEST(MulticastFaults, AnotherClusterIsServedOnlyWhereThereIsOne) {
  const Program program = with_checks(program_of(rows()[2]));
  const RunResult right = run_virtual_program(program, kNoFault);
  EXPECT_FALSE(differ(run_virtual_program(program, kFaultMulticastOtherCluster), right));
  EXPECT_TRUE(differ(run_virtual_program(program, kFaultMulticastOtherCluster, true), right));
}

}  // namespace
}  // namespace tidemark
