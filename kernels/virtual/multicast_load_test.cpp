// A multicast on the virtual device, block by block.
#include "kernels/virtual/multicast_load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/error.hpp"
#include "kernels/virtual/multicast_load_faults.hpp"
#include "kernels/virtual/tile_load_faults.hpp"

namespace tidemark::kernels {
namespace {

using Bytes = std::vector<std::uint8_t>;

// The window of each test: guard 1024, tile 512, guard 1024.
constexpr std::size_t kWindow = 2560;

// u8, 96 x 20 in rows of 112 bytes; a box of 64 x 8 at (16, 5), in a cluster of four along x.
MulticastLoad four_blocks(std::uint16_t mask, std::uint32_t issuer) {
  return {.load = {.map = {.extent = {96, 20}, .stride = {112}, .box = {64, 8}},
                   .at = {16, 5},
                   .payload = {.seed = 5}},
          .cluster = {4, 1, 1},
          .mask = mask,
          .issuer = issuer};
}

Bytes window_of(const RunResult& result, std::size_t rank) {
  const auto begin = result.bytes.begin() + static_cast<std::ptrdiff_t>(kWindow * rank);
  return {begin, begin + kWindow};
}

// Poison with the box in it, where `served`.
Bytes expected_window(std::uint32_t rank, bool served) {
  Bytes window(kWindow);
  for (std::size_t i = 0; i < kWindow; ++i)
    window[i] = static_cast<std::uint8_t>(poison_byte({.seed = 5}, i) ^ (rank | rank << 4));
  for (std::uint32_t y = 0; served && y < 8; ++y)
    for (std::uint32_t x = 0; x < 64; ++x)
      window[1024 + 64 * y + x] = source_byte({.seed = 5}, 1024 + 112 * (5 + y) + 16 + x);
  return window;
}

constexpr BarrierLedger kServed{.complete_before_issue = false,
                                .complete = true,
                                .next_complete_early = false,
                                .next_complete = true,
                                .announced = 512,
                                .credited = 512};
constexpr BarrierLedger kLeftOut{.complete_before_issue = false,
                                 .complete = false,
                                 .next_complete_early = false,
                                 .next_complete = true,
                                 .announced = 0,
                                 .credited = 0};

TEST(VirtualMulticast, ServesTheBlocksOfTheMaskAndNoOther) {
  const RunResult result = run_virtual_multicast_load(four_blocks(0b1010, 0), kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.bytes.size(), 4 * kWindow);
  EXPECT_EQ(window_of(result, 0), expected_window(0, false));
  EXPECT_EQ(window_of(result, 1), expected_window(1, true));
  EXPECT_EQ(window_of(result, 2), expected_window(2, false));
  EXPECT_EQ(window_of(result, 3), expected_window(3, true));
}

TEST(VirtualMulticast, CreditsOnlyTheBlocksOfTheMask) {
  const RunResult result = run_virtual_multicast_load(four_blocks(0b0110, 3), kNoFault);
  const std::vector<BarrierLedger> expected{kLeftOut, kServed, kServed, kLeftOut};
  EXPECT_EQ(result.cta_ledgers, expected);
}

TEST(VirtualMulticast, ReadsTheSourceBackOnce) {
  const RunResult result = run_virtual_multicast_load(four_blocks(0b1111, 2), kNoFault);
  ASSERT_EQ(result.surroundings.size(), source_allocation_bytes(four_blocks(0b1111, 2).load));
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte({.seed = 5}, i)) << i;
}

TEST(VirtualMulticast, SlicesMakeTheSameBoxAsOneCopy) {
  MulticastLoad sliced = four_blocks(0b1011, 3);
  sliced.slices = 4;
  const RunResult result = run_virtual_multicast_load(sliced, kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(window_of(result, 0), expected_window(0, true));
  EXPECT_EQ(window_of(result, 1), expected_window(1, true));
  EXPECT_EQ(window_of(result, 2), expected_window(2, false));
  EXPECT_EQ(window_of(result, 3), expected_window(3, true));
  EXPECT_EQ(result.cta_ledgers[0], kServed);
}

TEST(VirtualMulticast, LateReceiversCompleteWithTheirAnnouncement) {
  MulticastLoad late = four_blocks(0b0111, 3);
  late.late_arm = true;
  const RunResult result = run_virtual_multicast_load(late, kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  const std::vector<BarrierLedger> expected{kServed, kServed, kServed, kLeftOut};
  EXPECT_EQ(result.cta_ledgers, expected);
  EXPECT_EQ(window_of(result, 2), expected_window(2, true));
}

TEST(VirtualMulticast, AReaderThatDoesNotWaitSeesPoisonInEachBlock) {
  const RunResult result =
      run_virtual_multicast_load(four_blocks(0b1111, 0), kFaultWaitReturnsAtOnce);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    EXPECT_NE(window_of(result, rank), expected_window(rank, true)) << rank;
}

TEST(VirtualMulticast, AMissedBlockTimesOutAndIsNamed) {
  const RunResult result =
      run_virtual_multicast_load(four_blocks(0b0101, 0), kFaultMulticastHighestMissed);
  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_EQ(result.note, "the wait of block 2 for phase 0 ended by its bound");
  EXPECT_EQ(result.bytes.size(), 4 * kWindow);
  EXPECT_EQ(result.cta_ledgers[0], kServed);
  EXPECT_EQ(result.cta_ledgers[2].credited, 0U);
}

TEST(VirtualMulticast, RefusesWhatNoDeviceMayRun) {
  const auto refused = [](const MulticastLoad& multicast, const std::string& words) {
    try {
      (void)run_virtual_multicast_load(multicast, kNoFault);
      ADD_FAILURE() << "ran: " << words;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused(four_blocks(0b10000, 0), "beyond the cluster");
  refused(four_blocks(0, 0), "empty mask");
  refused(four_blocks(1, 4), "no block of the cluster");
  MulticastLoad wide = four_blocks(1, 0);
  wide.cluster = {4, 5, 1};
  refused(wide, "at most 16 blocks");
  MulticastLoad sliced = four_blocks(1, 0);
  sliced.slices = 3;
  refused(sliced, "not equal");
  sliced.slices = 5;
  refused(sliced, "a block of its own");
  sliced.slices = 4;
  sliced.load.map.box = {32, 8};
  refused(sliced, "off 128 bytes");
}

TEST(VirtualMulticast, AMisalignedInnerCoordinateIsStickyAsForATileLoad) {
  MulticastLoad off = four_blocks(1, 0);
  off.load.at[0] = 8;
  const RunResult result = run_virtual_multicast_load(off, kNoFault);
  EXPECT_EQ(result.fault, DeviceFault::sticky);
  EXPECT_EQ(result.code, 715);
}

}  // namespace
}  // namespace tidemark::kernels
