// Groups without a store, the waits of another thread, and what no document promises of stores, on
// a real GPU against expectations written out here.
#include <gtest/gtest.h>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/tile_store.hpp"

namespace tidemark::kernels {
namespace {

class StoreGroupsOnGpu : public GpuTest {};

using Bytes = std::vector<std::uint8_t>;

/// 96 x 40 elements of two bytes, rows 208 bytes apart; a box of 32 x 8.
TileStore matrix_store(std::int32_t x, std::int32_t y) {
  return {.map = {.type = DataType::u16,
                  .rank = 2,
                  .extent = {96, 40},
                  .stride = {208},
                  .box = {32, 8}},
          .at = {x, y},
          .payload = {.seed = 7}};
}

/// The destination as it is before the store.
Bytes poisoned(const TileStore& store) {
  Bytes allocation(destination_allocation_bytes(store));
  for (std::size_t i = 0; i < allocation.size(); ++i) allocation[i] = poison_byte(store.payload, i);
  return allocation;
}

TEST_F(StoreGroupsOnGpu, EmptyGroupsChangeNothingThatIsStoredOrRead) {
  TileStore store = matrix_store(16, 3);
  store.stores = 4;
  const auto device = make_cuda_device();
  const RunResult plain = device->run(store);
  store.empty_groups = 0b11111;

  const RunResult result = device->run(store);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, plain.bytes);
  EXPECT_EQ(result.stored, plain.stored);
}

TEST_F(StoreGroupsOnGpu, EmptyGroupsCountBehindTheReadWait) {
  TileStore store = matrix_store(16, 3);
  store.stores = 3;
  const auto device = make_cuda_device();
  const Bytes stored = device->run(store).bytes;
  store.wait = StoreWait::read;
  store.empty_groups = 0b1111;

  EXPECT_EQ(device->run(store).bytes, stored);
}

TEST_F(StoreGroupsOnGpu, ABystanderFindsPoisonOrWhatWasStoredAndTakesNothing) {
  TileStore store = matrix_store(16, 5);
  const auto device = make_cuda_device();
  const RunResult alone = device->run(store);
  store.bystander = true;

  const RunResult result = device->run(store);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, alone.bytes);
  EXPECT_EQ(result.stored.read, alone.stored.read);
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint8_t seen = result.stored.by_other[0][0][i];
    EXPECT_TRUE(seen == source_byte(store.payload, 1024 + i) ||
                seen == poison_byte(store.payload, 1024 + 208 * 5 + 32 + i))
        << i;
  }
  EXPECT_EQ(result.stored.by_other[1][0], StoreLedger::ProbedChunk{});
}

TEST_F(StoreGroupsOnGpu, AKernelThatEndsUnwaitedWritesOnlyItsBoxes) {
  const auto device = make_cuda_device();
  for (const StoreWait wait : {StoreWait::none, StoreWait::only_read}) {
    TileStore store = matrix_store(16, 5);
    store.wait = wait;
    const Bytes before = poisoned(store);

    const RunResult result = device->run(store);

    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    ASSERT_EQ(result.bytes.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i) {
      const std::size_t y = i < 1024 ? 99 : (i - 1024) / 208;
      const std::size_t x = i < 1024 ? 0 : (i - 1024) % 208;
      const bool in_box = y >= 5 && y < 13 && x >= 32 && x < 96;
      if (in_box) continue;
      ASSERT_EQ(result.bytes[i], before[i]) << i;
    }
    EXPECT_EQ(result.stored, StoreLedger{});
    EXPECT_EQ(result.surroundings[1024], source_byte(store.payload, 1024));
  }
}

TEST_F(StoreGroupsOnGpu, ElementStridesWriteOnlyInsideTheirBox) {
  TileStore store = matrix_store(16, 5);
  store.map.element_stride[1] = 3;
  const Bytes before = poisoned(store);

  const RunResult result = make_cuda_device()->run(store);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  for (std::size_t i = 1024; i < 1024 + 208 * 5; ++i) ASSERT_EQ(result.bytes[i], before[i]) << i;
  for (std::size_t i = 1024 + 208 * 13; i < before.size(); ++i)
    ASSERT_EQ(result.bytes[i], before[i]) << i;
}

}  // namespace
}  // namespace tidemark::kernels
