// Round trips on a real GPU against expectations written out here; the suite's oracle has no part
// in it.
#include "kernels/ops/tile_round_trip.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

class TileRoundTripOnGpu : public GpuTest {};

/// The published example: an 8 x 8 matrix of f32 that counts from 0, in 4 x 4 tiles of one block
/// each, in place; each thread adds the index of its element in the tile.
TileRoundTrip matrix() {
  const TensorMapSpec map{.type = DataType::f32, .extent = {8, 8}, .stride = {32}, .box = {4, 4}};
  const TileWalk walk{.at = {}, .step = {4, 4}, .tiles = {2, 2, 1, 1, 1}};
  return {.from = map,
          .to = map,
          .load = walk,
          .store = walk,
          .work = TileWork::add_index,
          .numbers = SourceNumbers::counting,
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

constexpr std::size_t kTensor = 1024;

void expect_tensor_equals_source(const RunResult& result, const Payload& payload,
                                 std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i)
    ASSERT_EQ(result.bytes[kTensor + i], source_byte(payload, kTensor + i)) << i;
}

TEST_F(TileRoundTripOnGpu, ThePublishedExampleGivesThePublishedMatrix) {
  // What the article prints for its four tiles, put together as rows of the matrix.
  const std::array<float, 64> expected{0,  2,  4,  6,  4,  6,  8,  10,  //
                                       12, 14, 16, 18, 16, 18, 20, 22,  //
                                       24, 26, 28, 30, 28, 30, 32, 34,  //
                                       36, 38, 40, 42, 40, 42, 44, 46,  //
                                       32, 34, 36, 38, 36, 38, 40, 42,  //
                                       44, 46, 48, 50, 48, 50, 52, 54,  //
                                       56, 58, 60, 62, 60, 62, 64, 66,  //
                                       68, 70, 72, 74, 72, 74, 76, 78};

  const RunResult result = make_cuda_device()->run(matrix());

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  std::array<float, 64> got{};
  std::memcpy(got.data(), &result.bytes[kTensor], sizeof(got));
  EXPECT_EQ(got, expected);
}

TEST_F(TileRoundTripOnGpu, InPlaceNothingAroundTheMatrixChanges) {
  const TileRoundTrip trip = matrix();

  const RunResult result = make_cuda_device()->run(trip);

  ASSERT_EQ(result.bytes.size(), 1024U + 256 + 1024 + 4 * (1024 + 128 + 1024));
  for (std::size_t i = 0; i < 1024; i += 4) {
    std::uint32_t front = 0;
    std::uint32_t back = 0;
    std::memcpy(&front, &result.bytes[i], 4);
    std::memcpy(&back, &result.bytes[1024 + 256 + i], 4);
    ASSERT_EQ(front, trip_source_word(trip, i / 4)) << i;
    ASSERT_EQ(back, trip_source_word(trip, (1024 + 256 + i) / 4)) << i;
  }
}

TEST_F(TileRoundTripOnGpu, TheWindowsHoldTheTilesAndPoisonAroundThem) {
  const RunResult result = make_cuda_device()->run(matrix());

  const std::size_t window = 1024 + 256 + 1024 + 2 * (1024 + 128 + 1024);  // of block 2: (0, 4)
  std::array<float, 16> tile{};
  std::memcpy(tile.data(), &result.bytes[window + 1024], sizeof(tile));
  EXPECT_EQ(tile, (std::array<float, 16>{32, 34, 36, 38, 44, 46, 48, 50, 56, 58, 60, 62, 68, 70, 72,
                                         74}));
  for (std::size_t i = 0; i < 1024; ++i)
    ASSERT_EQ(result.bytes[window + i], poison_byte({.seed = 21}, i)) << i;
  for (std::size_t i = 1024 + 64; i < 1024 + 128 + 1024; ++i)
    ASSERT_EQ(result.bytes[window + i], poison_byte({.seed = 21}, i)) << i;
}

TEST_F(TileRoundTripOnGpu, ARingOfStagesMovesEveryTileOnce) {
  const TileRoundTrip trip = ring();

  const RunResult result = make_cuda_device()->run(trip);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  expect_tensor_equals_source(result, trip.payload, 128 * 48);
  for (std::size_t i = 0; i < 1024; ++i) {
    ASSERT_EQ(result.bytes[i], poison_byte(trip.payload, i)) << i;
    ASSERT_EQ(result.bytes[1024 + 128 * 48 + i], poison_byte(trip.payload, 1024 + 128 * 48 + i))
        << i;
  }
}

TEST_F(TileRoundTripOnGpu, TheSourceIsLeftAsItWas) {
  const TileRoundTrip trip = ring();

  const RunResult result = make_cuda_device()->run(trip);

  ASSERT_EQ(result.surroundings.size(), 1024U + 128 * 48 + 1024);
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte(trip.payload, i)) << i;
}

TEST_F(TileRoundTripOnGpu, TheLedgerOfExactLoads) {
  const BarrierLedger ledger = make_cuda_device()->run(ring()).ledger;

  EXPECT_FALSE(ledger.complete_before_issue);
  EXPECT_TRUE(ledger.complete);
  EXPECT_FALSE(ledger.next_complete_early);
  EXPECT_EQ(ledger.announced, 6U * 1024);
}

TEST_F(TileRoundTripOnGpu, ThreadsThatSwizzleByTheFormulaGiveTheEnginesLayout) {
  TileRoundTrip trip = ring();
  trip.work = TileWork::thread_copy;
  trip.ctas = 6;
  trip.stages = trip.stores_per_group = 1;

  const RunResult result = make_cuda_device()->run(trip);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  expect_tensor_equals_source(result, trip.payload, 128 * 48);
  const std::size_t first = 1024 + 128 * 48 + 1024;
  constexpr std::size_t kWindow = 1024 + 1024 + 1024;
  ASSERT_EQ(result.bytes.size(), first + 6 * 2 * kWindow);
  for (std::size_t y = 0; y < 8; ++y)
    for (std::size_t x = 0; x < 128; ++x) {
      const std::size_t at = first + 1024 + 128 * y + (x ^ (16 * y));
      const std::uint8_t expected = source_byte(trip.payload, 1024 + 128 * y + x);
      ASSERT_EQ(result.bytes[at], expected) << "by the engine: " << x << ", " << y;
      ASSERT_EQ(result.bytes[at + kWindow], expected) << "by threads: " << x << ", " << y;
    }
}

TEST_F(TileRoundTripOnGpu, AStoreStopsBelowTheLastRow) {
  TileRoundTrip trip = ring();
  trip.to.extent = {64, 45};

  const RunResult result = make_cuda_device()->run(trip);

  expect_tensor_equals_source(result, trip.payload, 128 * 45);
  for (std::size_t i = 1024 + 128 * 45; i < 1024 + 128 * 45 + 1024; ++i)
    ASSERT_EQ(result.bytes[i], poison_byte(trip.payload, i)) << i;
}

TEST_F(TileRoundTripOnGpu, ARefusedMapOfTheStoreIsAnAnswerAndTheDeviceStaysUsable) {
  TileRoundTrip refused = ring();
  refused.to.stride = {120};  // no multiple of 16
  const auto device = make_cuda_device();

  EXPECT_EQ(device->run(refused).fault, DeviceFault::encode_refused);
  EXPECT_EQ(device->run(matrix()).fault, DeviceFault::none);
}

TEST_F(TileRoundTripOnGpu, WindowsThatDoNotFitAreRefusedInWords) {
  TileRoundTrip trip = ring();
  trip.from.box = trip.to.box = {64, 256};
  trip.from.extent = trip.to.extent = {64, 1024};
  trip.load = trip.store = {.at = {}, .step = {0, 256}, .tiles = {1, 4, 1, 1, 1}};
  trip.work = TileWork::thread_copy;
  trip.stages = 4;

  EXPECT_THROW((void)make_cuda_device()->run(trip), Error);
}

}  // namespace
}  // namespace tidemark::kernels
