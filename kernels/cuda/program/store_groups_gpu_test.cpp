// Groups without a store, the waits of another thread, and what no document promises of stores, on
// a real GPU against expectations written out here.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/tile_store.hpp"

namespace tidemark {
namespace {

class StoreGroupsOnGpu : public GpuTest {};

using Bytes = std::vector<std::uint8_t>;
using Traces = std::vector<std::uint64_t>;

RunResult run(Device& device, const TileStore& store) {
  const Program program = checked_program(store);
  return device.run_programs({&program, 1}).front();
}

/// Traces of the steps of one verb that the issuing thread takes, or another, in their order.
Traces traces(const TileStore& store, const RunResult& result, Verb verb, bool issuer) {
  const Program program = checked_program(store);
  Traces of_verb;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == verb && (program.steps[i].thread == 0) == issuer)
      of_verb.push_back(result.trace.at(i));
  return of_verb;
}

/// What the issuing thread read behind its waits.
Traces words_read(const TileStore& store, const RunResult& result) {
  return traces(store, result, Verb::wait_group, true);
}

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
  const RunResult plain = run(*device, store);
  const Traces words = words_read(store, plain);
  store.empty_groups = 0b11111;

  const RunResult result = run(*device, store);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.surroundings, plain.surroundings);
  EXPECT_EQ(words_read(store, result), words);
}

TEST_F(StoreGroupsOnGpu, EmptyGroupsCountBehindTheReadWait) {
  TileStore store = matrix_store(16, 3);
  store.stores = 3;
  const auto device = make_cuda_device();
  const Bytes stored = run(*device, store).surroundings;
  store.wait = StoreWait::read;
  store.empty_groups = 0b1111;

  EXPECT_EQ(run(*device, store).surroundings, stored);
}

TEST_F(StoreGroupsOnGpu, ABystanderFindsPoisonOrWhatWasStoredAndTakesNothing) {
  TileStore store = matrix_store(16, 5);
  const auto device = make_cuda_device();
  const RunResult alone = run(*device, store);
  const Traces words = words_read(store, alone);
  store.bystander = true;

  const RunResult result = run(*device, store);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.surroundings, alone.surroundings);
  EXPECT_EQ(words_read(store, result), words);
  EXPECT_EQ(traces(store, result, Verb::wait_group, false), Traces(1, 0));
  const Traces looks = traces(store, result, Verb::look, false);
  ASSERT_EQ(looks.size(), 2U);
  for (std::uint32_t i = 0; i < 8; ++i) {
    const auto seen = static_cast<std::uint8_t>(looks[0] >> 8 * i);
    EXPECT_TRUE(seen == source_byte(store.payload, 1024 + i) ||
                seen == poison_byte(store.payload, 1024 + 208 * 5 + 32 + i))
        << i;
  }
}

/// Whether byte `i` of the destination lies in the box of matrix_store(16, 5).
bool is_in_box(std::size_t i) {
  const std::size_t y = i < 1024 ? 99 : (i - 1024) / 208;
  const std::size_t x = i < 1024 ? 0 : (i - 1024) % 208;
  return y >= 5 && y < 13 && x >= 32 && x < 96;
}

/// Each byte of a box is what was stored or poison still, and all others are poison.
void expect_only_the_box(const TileStore& store, const RunResult& result) {
  const Bytes before = poisoned(store);
  ASSERT_EQ(result.surroundings.size(), before.size());
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (is_in_box(i) && result.surroundings[i] != before[i]) {
      const std::size_t at = i - 1024 - 208 * 5 - 32;
      ASSERT_EQ(result.surroundings[i],
                source_byte(store.payload, 1024 + 64 * (at / 208) + at % 208))
          << i;
    } else {
      ASSERT_EQ(result.surroundings[i], before[i]) << i;
    }
  }
}

/// The window as the program filled it.
Bytes filled_window(const TileStore& store) {
  Bytes window(window_bytes(store));
  for (std::size_t i = 0; i < window.size(); ++i) window[i] = source_byte(store.payload, i);
  return window;
}

TEST_F(StoreGroupsOnGpu, AKernelThatEndsUnwaitedWritesOnlyItsBoxes) {
  const auto device = make_cuda_device();
  for (const StoreWait wait : {StoreWait::none, StoreWait::only_read}) {
    TileStore store = matrix_store(16, 5);
    store.wait = wait;

    const RunResult result = run(*device, store);

    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    expect_only_the_box(store, result);
    EXPECT_EQ(result.trace, Traces(result.trace.size(), 0));
  }
}

TEST_F(StoreGroupsOnGpu, ACtaThatLeavesWithStoresInFlightHandsInItsWindowAndItsEnd) {
  TileStore store = matrix_store(16, 3);
  store.stores = kMaxStores;
  store.wait = StoreWait::none;

  const RunResult result = run(*make_cuda_device(), store);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.note, "");
  EXPECT_EQ(result.sms.size(), 1U);
  EXPECT_EQ(result.bytes, filled_window(store));
}

TEST_F(StoreGroupsOnGpu, CtasThatLeaveAndCtasThatWaitSideBySideKeepApart) {
  std::vector<TileStore> stores;
  for (std::uint32_t i = 0; i < 200; ++i) {
    stores.push_back(matrix_store(16, 5));
    stores.back().payload.seed = 1000 + i;
    stores.back().wait = static_cast<StoreWait>(i % 4);
  }
  std::vector<Program> programs;
  for (const TileStore& store : stores) programs.push_back(checked_program(store));

  const std::vector<RunResult> results = make_cuda_device()->run_programs(programs);

  for (std::size_t i = 0; i < stores.size(); ++i) {
    SCOPED_TRACE("store " + std::to_string(i));
    ASSERT_EQ(results[i].fault, DeviceFault::none) << results[i].note;
    expect_only_the_box(stores[i], results[i]);
    if (stores[i].wait == StoreWait::read) continue;
    EXPECT_EQ(results[i].bytes, filled_window(stores[i]));
  }
}

TEST_F(StoreGroupsOnGpu, ElementStridesWriteOnlyInsideTheirBox) {
  TileStore store = matrix_store(16, 5);
  store.map.element_stride[1] = 3;
  const Bytes before = poisoned(store);

  const RunResult result = run(*make_cuda_device(), store);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  for (std::size_t i = 1024; i < 1024 + 208 * 5; ++i)
    ASSERT_EQ(result.surroundings[i], before[i]) << i;
  for (std::size_t i = 1024 + 208 * 13; i < before.size(); ++i)
    ASSERT_EQ(result.surroundings[i], before[i]) << i;
}

}  // namespace
}  // namespace tidemark
