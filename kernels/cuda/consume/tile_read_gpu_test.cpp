// A warp's read on a real GPU: its bytes against a loop over the source, its cycles where banks
// must show.
#include "kernels/ops/tile_read.hpp"

#include <gtest/gtest.h>

#include <iostream>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"

namespace tidemark::kernels {
namespace {

class TileReadOnGpu : public GpuTest {};

/// 16 rows of 2 groups of 64 bf16 under the 128-byte swizzle, over rows of 400 bytes.
TileRead two_atoms(TilePlacement placement) {
  return {.load = {.map = {.type = DataType::bf16,
                           .rank = 3,
                           .extent = {64, 16, 2},
                           .stride = {400, 128},
                           .box = {64, 16, 2},
                           .swizzle = Swizzle::b128},
                   .payload = {.seed = 9}},
          .placement = placement,
          .first_column = 6};
}

void expect_columns_6_and_7(const RunResult& result, const Payload& payload) {
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.bytes.size(), 512U);
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    for (std::uint32_t byte = 0; byte < 16; ++byte)
      ASSERT_EQ(result.bytes[16 * lane + byte],
                source_byte(payload, 1024 + 400 * (lane % 16) + 16 * (6 + lane / 16) + byte))
          << "lane " << lane << " byte " << byte;
}

TEST_F(TileReadOnGpu, LanesReadTheirColumnsOfTwoAtoms) {
  const TileRead read = two_atoms(TilePlacement::as_loaded);
  expect_columns_6_and_7(make_cuda_device()->run(read), read.load.payload);
}

TEST_F(TileReadOnGpu, LanesReadTheSameColumnsOfRowsPlacedWhole) {
  const TileRead read = two_atoms(TilePlacement::unsplit);
  expect_columns_6_and_7(make_cuda_device()->run(read), read.load.payload);
}

TEST_F(TileReadOnGpu, MeasuresCyclesAndHandsBackWhatWasRead) {
  const TileRead read = two_atoms(TilePlacement::as_loaded);
  const Measurement measured = make_cuda_device()->measure(read, {.warmups = 2, .samples = 5});
  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  ASSERT_EQ(measured.samples.size(), 5U);
  for (const TimedSample& sample : measured.samples) EXPECT_GT(sample.cycles, 0);
  expect_columns_6_and_7(measured.last, read.load.payload);
}

}  // namespace
}  // namespace tidemark::kernels
