// Multicasts on a real GPU against expectations written out here; the suite's oracle has no part in
// it.
#include "kernels/ops/multicast_load.hpp"

#include <gtest/gtest.h>

#include <string>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

class MulticastLoadOnGpu : public GpuTest {};

using Bytes = std::vector<std::uint8_t>;

// The window of each test: guard 1024, tile 512, guard 1024.
constexpr std::size_t kWindow = 2560;

/// 100 x 40 elements of two bytes, rows 208 bytes apart; a box of 32 x 8 at (16, 5).
MulticastLoad matrix_load(std::array<std::uint32_t, 3> cluster, std::uint16_t mask,
                          std::uint32_t issuer) {
  return {.load = {.map = {.type = DataType::u16,
                           .rank = 2,
                           .extent = {100, 40},
                           .stride = {208},
                           .box = {32, 8}},
                   .at = {16, 5},
                   .payload = {.seed = 7}},
          .cluster = cluster,
          .mask = mask,
          .issuer = issuer};
}

/// The windows of `blocks` blocks, where those named in `served` have the box.
Bytes expected_windows(std::uint32_t blocks, const std::vector<std::uint32_t>& served) {
  Bytes windows(blocks * kWindow);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const std::size_t rank = i / kWindow, offset = i % kWindow;
    windows[i] = static_cast<std::uint8_t>(poison_byte({.seed = 7}, offset) ^ (rank | rank << 4));
  }
  for (const std::uint32_t rank : served)
    for (std::uint32_t y = 0; y < 8; ++y)
      for (std::uint32_t byte = 0; byte < 64; ++byte)
        windows[rank * kWindow + 1024 + 64 * y + byte] =
            source_byte({.seed = 7}, 1024 + 208 * (5 + y) + 2 * 16 + byte);
  return windows;
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

void expect_ledgers(const RunResult& result, const std::vector<BarrierLedger>& expected) {
  ASSERT_EQ(result.cta_ledgers.size(), expected.size());
  for (std::size_t rank = 0; rank < expected.size(); ++rank) {
    SCOPED_TRACE("block " + std::to_string(rank));
    const BarrierLedger& ledger = result.cta_ledgers[rank];
    EXPECT_EQ(ledger.complete_before_issue, expected[rank].complete_before_issue);
    EXPECT_EQ(ledger.complete, expected[rank].complete);
    EXPECT_EQ(ledger.next_complete_early, expected[rank].next_complete_early);
    EXPECT_EQ(ledger.next_complete, expected[rank].next_complete);
    EXPECT_EQ(ledger.announced, expected[rank].announced);
    EXPECT_EQ(ledger.credited, expected[rank].credited);
  }
}

TEST_F(MulticastLoadOnGpu, BothBlocksOfTwoGetTheBox) {
  const RunResult result = make_cuda_device()->run(matrix_load({2, 1, 1}, 0b11, 0));

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.note, "");
  EXPECT_EQ(result.bytes, expected_windows(2, {0, 1}));
  expect_ledgers(result, {kServed, kServed});
}

TEST_F(MulticastLoadOnGpu, TheIssuerOutsideTheMaskGetsNothing) {
  const RunResult result = make_cuda_device()->run(matrix_load({2, 1, 1}, 0b10, 0));

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, expected_windows(2, {1}));
  expect_ledgers(result, {kLeftOut, kServed});
}

TEST_F(MulticastLoadOnGpu, TwoOfFourBlocksGetTheBoxFromAThird) {
  const RunResult result = make_cuda_device()->run(matrix_load({4, 1, 1}, 0b1010, 2));

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, expected_windows(4, {1, 3}));
  expect_ledgers(result, {kLeftOut, kServed, kLeftOut, kServed});
}

TEST_F(MulticastLoadOnGpu, AllOfEightBlocksGetTheBox) {
  const RunResult result = make_cuda_device()->run(matrix_load({8, 1, 1}, 0xff, 6));

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, expected_windows(8, {0, 1, 2, 3, 4, 5, 6, 7}));
  expect_ledgers(result, std::vector<BarrierLedger>(8, kServed));
}

TEST_F(MulticastLoadOnGpu, BitsAreRanksInAClusterOfTwoByTwoByTwo) {
  const RunResult result = make_cuda_device()->run(matrix_load({2, 2, 2}, 0b01000100, 0));

  EXPECT_EQ(result.bytes, expected_windows(8, {2, 6}));
}

TEST_F(MulticastLoadOnGpu, BitsAreRanksInAClusterAlongZ) {
  const RunResult result = make_cuda_device()->run(matrix_load({1, 1, 4}, 0b0100, 3));

  EXPECT_EQ(result.bytes, expected_windows(4, {2}));
}

TEST_F(MulticastLoadOnGpu, SlicesOfFourBlocksMakeOneBoxInEach) {
  MulticastLoad sliced = matrix_load({4, 1, 1}, 0b1111, 0);
  sliced.slices = 4;

  const RunResult result = make_cuda_device()->run(sliced);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, expected_windows(4, {0, 1, 2, 3}));
  expect_ledgers(result, std::vector<BarrierLedger>(4, kServed));
}

TEST_F(MulticastLoadOnGpu, SlicesFromOutsideTheMaskArrive) {
  MulticastLoad sliced = matrix_load({4, 1, 1}, 0b0001, 2);
  sliced.slices = 2;  // by blocks 2 and 3

  const RunResult result = make_cuda_device()->run(sliced);

  EXPECT_EQ(result.bytes, expected_windows(4, {0}));
  expect_ledgers(result, {kServed, kLeftOut, kLeftOut, kLeftOut});
}

TEST_F(MulticastLoadOnGpu, LateReceiversCompleteWithTheirAnnouncement) {
  MulticastLoad late = matrix_load({4, 1, 1}, 0b0111, 3);
  late.late_arm = true;

  const RunResult result = make_cuda_device()->run(late);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, expected_windows(4, {0, 1, 2}));
  expect_ledgers(result, {kServed, kServed, kServed, kLeftOut});
}

TEST_F(MulticastLoadOnGpu, TheSourceIsReadBackUnchanged) {
  const MulticastLoad load = matrix_load({2, 1, 1}, 0b11, 1);
  Bytes expected(source_allocation_bytes(load.load));
  for (std::uint64_t i = 0; i < expected.size(); ++i) expected[i] = source_byte({.seed = 7}, i);

  EXPECT_EQ(make_cuda_device()->run(load).surroundings, expected);
}

// Either the 16 windows, or the plain answer that this GPU starts no such cluster.
TEST_F(MulticastLoadOnGpu, SixteenBlocksRunOrAreSaidToBeUnsupported) {
  const auto device = make_cuda_device();

  const RunResult result = device->run(matrix_load({16, 1, 1}, 0x8001, 9));

  if (result.fault == DeviceFault::unsupported) {
    EXPECT_NE(result.note.find("16 blocks"), std::string::npos) << result.note;
  } else {
    EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
    EXPECT_EQ(result.bytes, expected_windows(16, {0, 15}));
  }
  EXPECT_EQ(device->run(matrix_load({2, 1, 1}, 0b11, 0)).fault, DeviceFault::none);
}

TEST_F(MulticastLoadOnGpu, AMaskBitBeyondTheClusterIsRefusedInWords) {
  try {
    (void)make_cuda_device()->run(matrix_load({2, 1, 1}, 0b100, 0));
    FAIL() << "a mask that faults was run";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("beyond the cluster"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tidemark::kernels
