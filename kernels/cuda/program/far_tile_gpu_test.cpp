// Copies that go 2^32 bytes and more from the first byte of their tensor, on a real GPU, against
// expectations written out here.
#include <gtest/gtest.h>

#include <cuda_runtime_api.h>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/cuda/mapped_buffer.hpp"
#include "kernels/ops/tile_load.hpp"
#include "kernels/ops/tile_store.hpp"

namespace tidemark {
namespace {

class FarTileOnGpu : public GpuTest {
 protected:
  static RunResult run(const Program& program) {
    return make_cuda_device()->run_programs({&program, 1}).front();
  }
};

/// Rows of 64 bytes, as far apart as a map can say.
const TensorMapSpec kFar{
    .extent = {64, 3}, .stride = {(std::uint64_t{1} << 40) - 16}, .box = {64, 2}};
constexpr BoxStart kAt{0, 1};

TEST_F(FarTileOnGpu, SparseBufferHasMemoryAtItsIslands) {
  const std::vector<Island> islands{{.at = 0, .bytes = 64},
                                    {.at = std::uint64_t{1} << 41, .bytes = 64}};
  const SparseBuffer buffer(islands);
  for (const Island& island : islands)
    EXPECT_EQ(cudaMemset(buffer.data() + island.at, 0x5a, island.bytes), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
}

// The islands are a guard, a row and a guard each.
TEST_F(FarTileOnGpu, LoadsRowsThatLieATebibyteApart) {
  const TileLoad load{
      .map = kFar, .at = kAt, .source = MemorySource::mapped, .payload = {.seed = 31}};
  Program program = program_of(load);
  program.steps.push_back({.verb = Verb::snapshot});

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  for (std::uint32_t row = 0; row < 2; ++row)
    for (std::uint32_t x = 0; x < 64; ++x)
      ASSERT_EQ(result.bytes[1024 + 64 * row + x], source_byte(load.payload, 2112 * row + 1024 + x))
          << row << ", " << x;
}

TEST_F(FarTileOnGpu, StoresRowsThatLieATebibyteApart) {
  const TileStore store{
      .map = kFar, .at = kAt, .destination = MemorySource::mapped, .payload = {.seed = 32}};

  const RunResult result = run(program_of(store));

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  ASSERT_EQ(result.surroundings.size(), 2 * 2112U);
  for (std::uint32_t i = 0; i < 2 * 2112; ++i) {
    const std::uint32_t row = i / 2112, x = i % 2112 - 1024;
    const bool inside = i % 2112 >= 1024 && x < 64;
    ASSERT_EQ(result.surroundings[i], inside ? source_byte(store.payload, 1024 + 64 * row + x)
                                             : poison_byte(store.payload, i))
        << i;
  }
}

}  // namespace
}  // namespace tidemark
