// The program of a multicast on the virtual device, CTA by CTA.
#include "kernels/ops/barriers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

using Bytes = std::vector<std::uint8_t>;

// The window of each test: guard 1024, tile 512, guard 1024.
constexpr std::size_t kWindow = 2560;

// u8, 96 x 20 in rows of 112 bytes; a box of 64 x 8 at (16, 5), in a cluster of four along x.
MulticastLoad four_ctas(std::uint16_t mask, std::uint32_t issuer) {
  return {.load = {.map = {.extent = {96, 20}, .stride = {112}, .box = {64, 8}},
                   .at = {16, 5},
                   .payload = {.seed = 5}},
          .cluster = {4, 1, 1},
          .mask = mask,
          .issuer = issuer};
}

RunResult run(const MulticastLoad& multicast, Fault fault = kNoFault) {
  return run_virtual_program(with_checks(program_of(multicast)), fault);
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

// Every window that CTA `rank` handed out.
std::vector<Bytes> windows_of(const MulticastLoad& multicast, const RunResult& result,
                              std::uint32_t rank) {
  std::vector<Bytes> windows;
  std::size_t at = 0;
  for (const Step& step : with_checks(program_of(multicast)).steps)
    for (std::uint32_t cta = 0; step.verb == Verb::snapshot && cta < 4; ++cta) {
      if (!takes(step, cta)) continue;
      if (cta == rank)
        windows.emplace_back(result.bytes.begin() + static_cast<std::ptrdiff_t>(at),
                             result.bytes.begin() + static_cast<std::ptrdiff_t>(at + kWindow));
      at += kWindow;
    }
  return windows;
}

// Two copies, the window at the end, and the exact phase.
void expect_served(const MulticastLoad& multicast, const RunResult& result, std::uint32_t rank) {
  EXPECT_EQ(windows_of(multicast, result, rank), std::vector<Bytes>(4, expected_window(rank, true)))
      << rank;
}

// At the end, and behind the exact phase of the others.
void expect_canary(const MulticastLoad& multicast, const RunResult& result, std::uint32_t rank) {
  EXPECT_EQ(windows_of(multicast, result, rank),
            std::vector<Bytes>(2, expected_window(rank, false)))
      << rank;
}

TEST(VirtualMulticast, ServesTheCtasOfTheMaskAndNoOther) {
  const MulticastLoad row = four_ctas(0b1010, 0);
  const RunResult result = run(row);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  expect_canary(row, result, 0);
  expect_served(row, result, 1);
  expect_canary(row, result, 2);
  expect_served(row, result, 3);
}

TEST(VirtualMulticast, LeavesNothingPendingAnywhere) {
  const Program program = with_checks(program_of(four_ctas(0b0110, 3)));
  const RunResult result = run_virtual_program(program, kNoFault);
  std::size_t meters = 0;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    for (std::uint32_t cta = 0; program.steps[i].verb == Verb::meter && cta < 4; ++cta) {
      if (!takes(program.steps[i], cta)) continue;
      ++meters;
      EXPECT_EQ(result.trace[4 * i + cta], meter_trace(false, true, 0)) << i << " of " << cta;
    }
  EXPECT_EQ(meters, 8U);  // of each CTA, before and behind the exact phase
}

TEST(VirtualMulticast, HandsTheSourceBackAsItWas) {
  const MulticastLoad row = four_ctas(0b1111, 2);
  const RunResult result = run(row);
  ASSERT_EQ(result.surroundings.size(), source_allocation_bytes(row.load));
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte({.seed = 5}, i)) << i;
}

TEST(VirtualMulticast, SlicesMakeTheSameBoxAsOneCopy) {
  MulticastLoad sliced = four_ctas(0b1011, 3);
  sliced.slices = 4;
  const RunResult result = run(sliced);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  expect_served(sliced, result, 0);
  expect_served(sliced, result, 1);
  expect_canary(sliced, result, 2);
  expect_served(sliced, result, 3);
}

TEST(VirtualMulticast, LateReceiversCompleteWithTheirAnnouncement) {
  MulticastLoad late = four_ctas(0b0111, 3);
  late.late_arm = true;
  const RunResult result = run(late);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  expect_served(late, result, 2);
  expect_canary(late, result, 3);
}

TEST(VirtualMulticast, AReaderThatDoesNotWaitSeesPoisonInEachCta) {
  const MulticastLoad row = four_ctas(0b1111, 0);
  const RunResult result = run(row, kFaultWaitReturnsAtOnce);
  for (std::uint32_t rank = 0; rank < 4; ++rank)
    EXPECT_NE(windows_of(row, result, rank)[0], expected_window(rank, true)) << rank;
}

TEST(VirtualMulticast, PassesHintAndSourceOn) {
  MulticastLoad row = four_ctas(0b0001, 0);
  row.load.hint = CacheHint::evict_last;
  row.load.source = MemorySource::pinned;
  const Program program = program_of(row);
  EXPECT_EQ(program.regions[0].source, MemorySource::pinned);
  EXPECT_NE(run(row, kFaultEvictLastHalvesChunk).bytes, run(row).bytes);
}

TEST(VirtualMulticast, RefusesWhatNoDeviceMayRun) {
  const auto refused = [](const MulticastLoad& multicast, const std::string& words) {
    try {
      (void)program_of(multicast);
      ADD_FAILURE() << "made: " << words;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
    }
  };
  refused(four_ctas(0b10000, 0), "beyond the cluster");
  refused(four_ctas(0, 0), "empty mask");
  refused(four_ctas(1, 4), "no CTA of the cluster");
  MulticastLoad wide = four_ctas(1, 0);
  wide.cluster = {4, 5, 1};
  refused(wide, "at most 16 CTAs");
  MulticastLoad sliced = four_ctas(1, 0);
  sliced.slices = 3;
  refused(sliced, "not equal");
  sliced.slices = 5;
  refused(sliced, "a CTA of its own");
  sliced.slices = 4;
  sliced.load.map.box = {32, 8};
  refused(sliced, "off 128 bytes");
}

TEST(VirtualMulticast, AMaskBitBeyondTheClusterIsNotSound) {
  Program program = program_of(four_ctas(0b1000, 0));
  program.cluster = {2, 1, 1};
  for (Step& step : program.steps) step.ctas = step.verb == Verb::cluster_sync ? 3 : 1;
  EXPECT_NE(unsound(program).find("multicast mask 0x8 of 2 CTAs"), std::string::npos)
      << unsound(program);
}

TEST(VirtualMulticast, AMisalignedInnerCoordinateIsStickyAsForATileLoad) {
  MulticastLoad off = four_ctas(1, 0);
  off.load.at[0] = 8;
  const RunResult result = run(off);
  EXPECT_EQ(result.fault, DeviceFault::sticky);
  EXPECT_EQ(result.code, 715);
}

}  // namespace
}  // namespace tidemark
