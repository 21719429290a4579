// What the threads of a program do themselves, at once and asynchronously.
#include "kernels/virtual/program/program_run.hpp"

#include <gtest/gtest.h>
#include <algorithm>
#include <cstring>

#include "kernels/ops/tile_store.hpp"
#include "kernels/virtual/copies/program_faults.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

// The 8 x 8 matrix of f32 that counts from 0, in 4 x 4 tiles of one CTA each, in place; to each
// element its index in the tile is added.
TileRoundTrip matrix() {
  const TensorMapSpec map{.type = DataType::f32, .extent = {8, 8}, .stride = {32}, .box = {4, 4}};
  const TileWalk walk{.at = {}, .step = {4, 4}, .tiles = {2, 2, 1, 1, 1}};
  return {.from = map,
          .to = map,
          .load = walk,
          .store = walk,
          .work = TileWork::add_index,
          .numbers = Numbers::counting,
          .in_place = true,
          .ctas = 4,
          .payload = {.seed = 5}};
}

float element(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  float value = 0;
  std::memcpy(&value, &bytes[1024 + 4 * index], 4);
  return value;
}

RunResult run(const TileRoundTrip& trip, Fault fault = kNoFault) {
  return run_virtual_program(program_of(trip), fault);
}

TEST(VirtualThreads, AddItsIndexInTheTileToEachElement) {
  const RunResult result = run(matrix());
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t x = 0; x < 8; ++x)
      ASSERT_EQ(element(result.surroundings, 8 * y + x),
                static_cast<float>(8 * y + x + 4 * (y % 4) + x % 4))
          << x << ", " << y;
}

TEST(VirtualThreads, AroundTheMatrixNothingChanges) {
  const std::vector<std::uint8_t> memory = run(matrix()).surroundings;
  const Program program = program_of(matrix());
  const std::vector<std::uint8_t> before = filled_region(program.regions[0], program.payload);
  EXPECT_TRUE(std::equal(memory.begin(), memory.begin() + 1024, before.begin()));
  EXPECT_TRUE(std::equal(memory.begin() + 1024 + 256, memory.end(), before.begin() + 1024 + 256));
}

TEST(VirtualThreads, AddInWholeNumbersAndUnderASwizzle) {
  TileRoundTrip trip = matrix();
  for (TensorMapSpec* map : {&trip.from, &trip.to}) {
    map->type = DataType::u32;
    map->box = {8, 4};
    map->swizzle = Swizzle::b32;
  }
  trip.load = trip.store = {.at = {}, .step = {0, 4}, .tiles = {1, 2, 1, 1, 1}};
  trip.ctas = 1;
  const std::vector<std::uint8_t> memory = run(trip).surroundings;
  for (std::uint32_t i = 0; i < 64; ++i) {
    std::uint32_t value = 0;
    std::memcpy(&value, &memory[1024 + 4 * i], 4);
    EXPECT_EQ(value, i + i % 32) << i;
  }
}

// A load and a copy of the same box, side by side in one window.
Program twins(Swizzle swizzle) {
  TensorMapSpec map{
      .type = DataType::u16, .rank = 3, .extent = {72, 9, 4}, .stride = {144, 1296}, .box = {}};
  map.box = {swizzle == Swizzle::none ? 24U : swizzle_bytes(swizzle) / 2, 5, 3};
  map.element_stride = {1, 2, 1, 1, 1};
  map.swizzle = swizzle;
  const TileLoad load{.map = map, .payload = {.seed = 9}};
  return {.window = 8192,
          .barriers = 1,
          .regions = {region_of(load)},
          .maps = {{.spec = map}},
          .steps = {{.verb = Verb::poison, .bytes = 8192},
                    {.verb = Verb::init},
                    {.verb = Verb::arrive_expect_tx, .bytes = tile_bytes(map)},
                    {.verb = Verb::load, .offset = 1024 + 384, .at = {64, -2, 2}},
                    {.verb = Verb::wait, .ns = kMustCompleteNs},
                    {.verb = Verb::copy, .offset = 4096 + 1024 + 384, .at = {64, -2, 2}},
                    {.verb = Verb::snapshot}},
          .payload = load.payload};
}

TEST(VirtualThreads, CopyABoxAsTheEngineLoadsIt) {
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    const Program program = twins(swizzle);
    const std::vector<std::uint8_t> window = run_virtual_program(program, kNoFault).bytes;
    const std::uint32_t end = 1024 + 384 + tile_bytes(program.maps[0].spec);
    EXPECT_TRUE(std::equal(&window[1024 + 384], &window[end], &window[4096 + 1024 + 384]));
    EXPECT_EQ(window[4096 + end], poison_byte(program.payload, 4096 + end));
  }
}

TEST(VirtualThreads, ARingOfStagesLeavesWhatManyCtasLeave) {
  TileRoundTrip ring = matrix();
  ring.ctas = 1;
  ring.stages = 3;
  ring.stores_per_group = 2;
  EXPECT_EQ(run(ring).surroundings, run(matrix()).surroundings);
}

TEST(VirtualThreads, AStoreBeforeTheFenceTakesStaleBytes) {
  const auto right = run(matrix()).surroundings;
  const auto stale = run(matrix(), kFaultStoreBeforeFence).surroundings;
  EXPECT_NE(right, stale);
  EXPECT_EQ(element(stale, 8), 8);  // second row of the first tile: nothing was added
}

}  // namespace

}  // namespace tidemark
