// A warp's read on a real GPU: its bytes against a loop over the source, its cycles where banks
// must show.
#include "kernels/ops/tile_consume.hpp"

#include <gtest/gtest.h>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"

namespace tidemark {
namespace {

class ColumnsOnGpu : public GpuTest {};

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

void expect_columns_6_and_7(const TileRead& read) {
  const Program program = program_of(read);
  const RunResult result = make_cuda_device()->run_programs({&program, 1}).front();
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.bytes.size(), program.window);
  const std::size_t lanes = program.window - kGuardBytes - 512;
  for (std::uint32_t lane = 0; lane < 32; ++lane)
    for (std::uint32_t byte = 0; byte < 16; ++byte)
      ASSERT_EQ(
          result.bytes[lanes + 16 * lane + byte],
          source_byte(read.load.payload, 1024 + 400 * (lane % 16) + 16 * (6 + lane / 16) + byte))
          << "lane " << lane << " byte " << byte;
}

TEST_F(ColumnsOnGpu, LanesReadTheirColumnsOfTwoAtoms) {
  expect_columns_6_and_7(two_atoms(TilePlacement::as_loaded));
}

TEST_F(ColumnsOnGpu, LanesReadTheSameColumnsOfRowsPlacedWhole) {
  expect_columns_6_and_7(two_atoms(TilePlacement::unsplit));
}

TEST_F(ColumnsOnGpu, MeasuresCyclesWithoutConflictsAndWithThem) {
  TileRead read = two_atoms(TilePlacement::as_loaded);
  const auto device = make_cuda_device();
  const Measurement free = device->measure(read, {.warmups = 2, .samples = 5});
  read.load.map.swizzle = Swizzle::none;
  const Measurement in_conflict = device->measure(read, {.warmups = 2, .samples = 5});
  ASSERT_EQ(free.fault, DeviceFault::none) << free.note;
  ASSERT_EQ(free.samples.size(), 5U);
  EXPECT_FALSE(free.last.bytes.empty());
  ASSERT_EQ(in_conflict.samples.size(), 5U);
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_GT(in_conflict.samples[i].cycles, 4 * free.samples[i].cycles);
}

TEST_F(ColumnsOnGpu, ARefusedMapIsTheEndOfAMeasurement) {
  TileRead read = two_atoms(TilePlacement::as_loaded);
  read.load.map.stride[0] = 392;  // off 16 bytes
  const Measurement refused = make_cuda_device()->measure(read, {.warmups = 2, .samples = 5});
  EXPECT_EQ(refused.fault, DeviceFault::encode_refused);
  EXPECT_TRUE(refused.samples.empty());
}

}  // namespace
}  // namespace tidemark
