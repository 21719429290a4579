// Threads at work on tiles, on a real GPU, against expectations written out here; the suite's
// oracle has no part in it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/tile_store.hpp"

namespace tidemark {
namespace {

class ThreadsOnGpu : public GpuTest {
 protected:
  static RunResult run(const Program& program) {
    return make_cuda_device()->run_programs({&program, 1}).front();
  }
};

/// The published example: an 8 x 8 matrix of f32 that counts from 0, in 4 x 4 tiles of one CTA
/// each, in place; each thread adds the index of its element in the tile.
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
          .payload = {.seed = 21}};
}

/// 64 x 48 elements of two bytes, unchanged through a ring of stages.
TileRoundTrip ring() {
  const TensorMapSpec map{.type = DataType::u16,
                          .extent = {64, 48},
                          .stride = {128},
                          .box = {64, 8},
                          .swizzle = Swizzle::b128};
  const TileWalk walk{.at = {}, .step = {0, 8}, .tiles = {1, 6, 1, 1, 1}};
  return {.from = map,
          .to = map,
          .load = walk,
          .store = walk,
          .ctas = 1,
          .stages = 3,
          .stores_per_group = 2,
          .issuer = 77,
          .payload = {.seed = 22}};
}

TEST_F(ThreadsOnGpu, ThePublishedExampleGivesThePublishedMatrix) {
  // What the article prints for its four tiles, put together as rows of the matrix.
  const std::array<float, 64> expected{0,  2,  4,  6,  4,  6,  8,  10,  //
                                       12, 14, 16, 18, 16, 18, 20, 22,  //
                                       24, 26, 28, 30, 28, 30, 32, 34,  //
                                       36, 38, 40, 42, 40, 42, 44, 46,  //
                                       32, 34, 36, 38, 36, 38, 40, 42,  //
                                       44, 46, 48, 50, 48, 50, 52, 54,  //
                                       56, 58, 60, 62, 60, 62, 64, 66,  //
                                       68, 70, 72, 74, 72, 74, 76, 78};

  const RunResult result = run(program_of(matrix()));

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  std::array<float, 64> got{};
  std::memcpy(got.data(), &result.surroundings[1024], sizeof(got));
  EXPECT_EQ(got, expected);
}

TEST_F(ThreadsOnGpu, AroundTheMatrixNothingChanges) {
  const RunResult result = run(program_of(matrix()));

  ASSERT_EQ(result.surroundings.size(), 1024U + 256 + 1024);
  for (std::uint32_t i = 0; i < 1024; i += 4) {
    float front = 0, back = 0;
    std::memcpy(&front, &result.surroundings[i], 4);
    std::memcpy(&back, &result.surroundings[1024 + 256 + i], 4);
    ASSERT_EQ(front, static_cast<float>(4096 - 256 + i / 4)) << i;
    ASSERT_EQ(back, static_cast<float>(64 + i / 4)) << i;
  }
}

TEST_F(ThreadsOnGpu, ARingOfStagesMovesEveryTileOnce) {
  const RunResult result = run(program_of(ring()));

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  const std::size_t bytes = 128 * 48, destination = 1024 + bytes + 1024;
  for (std::size_t i = 0; i < 1024; ++i)
    ASSERT_EQ(result.surroundings[destination + i], poison_byte({.seed = 22}, i)) << i;
  for (std::size_t i = 0; i < bytes; ++i)
    ASSERT_EQ(result.surroundings[destination + 1024 + i], source_byte({.seed = 22}, 1024 + i))
        << i;
}

TEST_F(ThreadsOnGpu, CopyABoxAsTheEngineLoadsIt) {
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
    TensorMapSpec map{
        .type = DataType::u16, .rank = 3, .extent = {72, 9, 4}, .stride = {144, 1296}, .box = {}};
    map.box = {swizzle == Swizzle::none ? 24U : swizzle_bytes(swizzle) / 2, 5, 3};
    map.element_stride = {1, 2, 1, 1, 1};
    map.swizzle = swizzle;
    const TileLoad load{.map = map, .payload = {.seed = 9}};
    const Program program{.window = 8192,
                          .barriers = 1,
                          .regions = {region_of(load)},
                          .maps = {{.spec = map}},
                          .steps = {{.verb = Verb::poison, .bytes = 8192},
                                    {.verb = Verb::init},
                                    {.verb = Verb::arrive_expect_tx, .bytes = tile_bytes(map)},
                                    {.verb = Verb::load, .offset = 1408, .at = {64, -2, 2}},
                                    {.verb = Verb::wait, .ns = kMustCompleteNs},
                                    {.verb = Verb::copy, .offset = 5504, .at = {64, -2, 2}},
                                    {.verb = Verb::snapshot}},
                          .payload = load.payload};

    const RunResult result = run(program);

    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    const std::uint32_t end = 1408 + tile_bytes(map);
    EXPECT_TRUE(std::equal(&result.bytes[1408], &result.bytes[end], &result.bytes[5504]));
    EXPECT_EQ(result.bytes[4096 + end], poison_byte({.seed = 9}, 4096 + end));
  }
}

}  // namespace
}  // namespace tidemark
