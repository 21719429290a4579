// Tile stores on a real GPU against expectations written out here, one loop per test; the suite's
// oracle has no part in it.
#include "kernels/ops/tile_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

class TileStoreOnGpu : public GpuTest {};

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

TEST_F(TileStoreOnGpu, AnInteriorBoxArrivesByteForByte) {
  const TileStore store = matrix_store(16, 5);
  Bytes expected = poisoned(store);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 208 * (5 + y) + 32 + byte] = source_byte(store.payload, 1024 + 64 * y + byte);

  const RunResult result = make_cuda_device()->run(store);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.note, "");
  EXPECT_EQ(result.bytes, expected);
}

TEST_F(TileStoreOnGpu, TheInvertedPayloadInvertsPoisonAndSource) {
  TileStore store = matrix_store(16, 5);
  const auto device = make_cuda_device();
  const Bytes plain = device->run(store).bytes;
  store.payload.inverted = true;

  const Bytes inverted = device->run(store).bytes;

  ASSERT_EQ(plain.size(), inverted.size());
  for (std::size_t i = 0; i < plain.size(); ++i) ASSERT_EQ(plain[i] ^ inverted[i], 0xff) << i;
}

TEST_F(TileStoreOnGpu, WhatLiesBehindTheEndsIsDropped) {
  const TileStore store = matrix_store(80, 36);  // 16 columns and 4 rows are inside
  Bytes expected = poisoned(store);
  for (std::uint32_t y = 0; y < 4; ++y)
    for (std::uint32_t byte = 0; byte < 32; ++byte)
      expected[1024 + 208 * (36 + y) + 160 + byte] =
          source_byte(store.payload, 1024 + 64 * y + byte);

  EXPECT_EQ(make_cuda_device()->run(store).bytes, expected);
}

TEST_F(TileStoreOnGpu, ABoxWhollyOutsideWritesNothingAndCompletes) {
  const TileStore store = matrix_store(1024, 1000);

  const RunResult result = make_cuda_device()->run(store);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, poisoned(store));
  EXPECT_EQ(result.stored, StoreLedger{});
}

TEST_F(TileStoreOnGpu, TheWindowIsReadBackUnchanged) {
  const TileStore store = matrix_store(16, 5);
  Bytes expected(1024 + 512 + 1024);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = source_byte(store.payload, i);

  EXPECT_EQ(make_cuda_device()->run(store).surroundings, expected);
}

TEST_F(TileStoreOnGpu, AReadTileCanBeOverwritten) {
  TileStore store = matrix_store(16, 5);
  const auto device = make_cuda_device();
  const Bytes stored = device->run(store).bytes;
  store.wait = StoreWait::read;
  Bytes window(1024 + 512 + 1024);
  for (std::size_t i = 0; i < window.size(); ++i) {
    const std::uint8_t byte = source_byte(store.payload, i);
    window[i] = i >= 1024 && i < 1024 + 512 ? static_cast<std::uint8_t>(~byte) : byte;
  }

  const RunResult result = device->run(store);

  EXPECT_EQ(result.bytes, stored);
  EXPECT_EQ(result.surroundings, window);
}

TEST_F(TileStoreOnGpu, TheIssuingThreadReadsWhatItWaitedFor) {
  TileStore store = matrix_store(16, 16);
  store.stores = 4;  // rows 16 to 39, and the last box outside

  const StoreLedger ledger = make_cuda_device()->run(store).stored;

  for (std::uint32_t group = 0; group < 3; ++group)
    for (std::uint32_t i = 0; i < 16; ++i) {
      EXPECT_EQ(ledger.read[group][0][i], source_byte(store.payload, 1024 + 512 * group + i));
      EXPECT_EQ(ledger.read[group][1][i],
                source_byte(store.payload, 1024 + 512 * group + 7 * 64 + 48 + i));
    }
  EXPECT_EQ(ledger.read[3][0], StoreLedger::ProbedChunk{});
}

TEST_F(TileStoreOnGpu, FourGroupsFillFourBoxes) {
  TileStore store = matrix_store(16, 3);
  store.stores = 4;
  Bytes expected = poisoned(store);
  for (std::uint32_t y = 0; y < 32; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 208 * (3 + y) + 32 + byte] = source_byte(store.payload, 1024 + 64 * y + byte);

  EXPECT_EQ(make_cuda_device()->run(store).bytes, expected);
}

TEST_F(TileStoreOnGpu, OneDimension) {
  const TileStore store{.map = {.type = DataType::u32, .rank = 1, .extent = {1000}, .box = {64}},
                        .at = {500},
                        .payload = {.seed = 8}};
  Bytes expected = poisoned(store);
  for (std::uint32_t byte = 0; byte < 256; ++byte)
    expected[1024 + 4 * 500 + byte] = source_byte(store.payload, 1024 + byte);

  EXPECT_EQ(make_cuda_device()->run(store).bytes, expected);
}

TEST_F(TileStoreOnGpu, ThreeDimensionsBehindTwoOffsets) {
  const TileStore store{.map = {.type = DataType::u8,
                                .rank = 3,
                                .extent = {48, 9, 7},
                                .stride = {64, 640},
                                .box = {32, 4, 3},
                                .base_offset = 48},
                        .at = {16, 2, 1},
                        .source_offset = 384,
                        .payload = {.seed = 9}};
  Bytes expected = poisoned(store);
  for (std::uint32_t z = 0; z < 3; ++z)
    for (std::uint32_t y = 0; y < 4; ++y)
      for (std::uint32_t x = 0; x < 32; ++x)
        expected[1024 + 48 + 640 * (1 + z) + 64 * (2 + y) + 16 + x] =
            source_byte(store.payload, 1024 + 384 + x + 32 * (y + 4 * z));

  EXPECT_EQ(make_cuda_device()->run(store).bytes, expected);
}

TEST_F(TileStoreOnGpu, FiveDimensions) {
  const TileStore store{.map = {.type = DataType::u64,
                                .rank = 5,
                                .extent = {6, 5, 4, 3, 2},
                                .stride = {48, 240, 960, 2880},
                                .box = {2, 2, 2, 2, 2}},
                        .at = {2, 1, 1, 1, 0},
                        .payload = {.seed = 11}};
  Bytes expected = poisoned(store);
  for (std::uint32_t v = 0; v < 2; ++v)
    for (std::uint32_t w = 0; w < 2; ++w)
      for (std::uint32_t z = 0; z < 2; ++z)
        for (std::uint32_t y = 0; y < 2; ++y)
          for (std::uint32_t byte = 0; byte < 16; ++byte)
            expected[1024 + 2880 * v + 960 * (1 + w) + 240 * (1 + z) + 48 * (1 + y) + 16 + byte] =
                source_byte(store.payload, 1024 + byte + 16 * (y + 2 * (z + 2 * (w + 2 * v))));

  EXPECT_EQ(make_cuda_device()->run(store).bytes, expected);
}

TEST_F(TileStoreOnGpu, ASwizzledTileHasItsPiecesPutBack) {
  TileStore store{.map = {.type = DataType::u8,
                          .rank = 2,
                          .extent = {128, 16},
                          .stride = {128},
                          .box = {128, 16},
                          .swizzle = Swizzle::b128},
                  .source_offset = 384,
                  .payload = {.seed = 12}};
  Bytes expected = poisoned(store);
  for (std::uint32_t y = 0; y < 16; ++y)
    for (std::uint32_t x = 0; x < 128; ++x)
      expected[1024 + 128 * y + x] =
          source_byte(store.payload, 1024 + 384 + 128 * y + (x ^ (16 * ((y + 3) % 8))));

  EXPECT_EQ(make_cuda_device()->run(store).bytes, expected);
}

TEST_F(TileStoreOnGpu, ALargeRowLeavesNothingBehindForASmallOne) {
  const TileStore large{.map = {.type = DataType::u32,
                                .rank = 2,
                                .extent = {256, 190},
                                .stride = {1024},
                                .box = {256, 190}},
                        .payload = {.seed = 13}};
  const TileStore small = matrix_store(16, 5);
  const auto device = make_cuda_device();
  const Bytes alone = device->run(small).bytes;

  const RunResult between = device->run(large);

  EXPECT_EQ(between.fault, DeviceFault::none) << between.note;
  EXPECT_EQ(between.bytes[1024 + 189 * 1024 + 1023],
            source_byte(large.payload, 1024 + 189 * 1024 + 1023));
  EXPECT_EQ(device->run(small).bytes, alone);
}

TEST_F(TileStoreOnGpu, ARefusedMapIsAnAnswerAndTheDeviceStaysUsable) {
  TileStore refused = matrix_store(16, 5);
  refused.map.stride = {200};  // no multiple of 16
  const auto device = make_cuda_device();

  const RunResult result = device->run(refused);

  EXPECT_EQ(result.fault, DeviceFault::encode_refused);
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.bytes.empty());
  EXPECT_EQ(device->run(matrix_store(16, 5)).fault, DeviceFault::none);
}

TEST_F(TileStoreOnGpu, AWindowThatDoesNotFitIsRefusedInWords) {
  TileStore store = matrix_store(0, 0);
  store.map.box = {256, 128};
  store.stores = 4;

  try {
    (void)make_cuda_device()->run(store);
    FAIL() << "a window of 258 KiB ran";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("264192 bytes"), std::string::npos) << error.what();
  }
}

TEST_F(TileStoreOnGpu, MeasuresAsManySamplesAsAsked) {
  const Measurement measured =
      make_cuda_device()->measure(matrix_store(16, 5), {.warmups = 1, .samples = 4});

  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  ASSERT_EQ(measured.samples.size(), 4U);
  EXPECT_GT(measured.samples[0].total_ns, 0);
  EXPECT_GT(measured.samples[3].at_unix_s, 1.7e9);
}

/// Ends the process: 0 where the fault came as predicted. x = 1 lies 2 bytes off a multiple of 16.
[[noreturn]] void run_misaligned() {
  const auto device = make_cuda_device();
  const RunResult result = device->run(matrix_store(1, 0));
  const bool sticky = result.fault == DeviceFault::sticky && result.code == 715;
  const RunResult next = device->run(matrix_store(16, 5));
  std::cerr << "fault " << result.code << " (" << result.note << "), then " << next.code << " ("
            << next.note << ")\n";
  std::_Exit(sticky && next.fault == DeviceFault::sticky ? 0 : 1);
}

/// The same for a source 16 bytes off the 128 on which a tile has to start.
[[noreturn]] void run_off_128_bytes() {
  TileStore store = matrix_store(16, 5);
  store.source_offset = 16;
  const RunResult result = make_cuda_device()->run(store);
  std::cerr << "fault " << result.code << " (" << result.note << ")\n";
  std::_Exit(result.fault == DeviceFault::sticky && result.code == kMisalignedAddress ? 0 : 1);
}

using TileStoreOnGpuDeathTest = TileStoreOnGpu;

TEST_F(TileStoreOnGpuDeathTest, AnInnerCoordinateOffSixteenBytesIsAnIllegalInstruction) {
  // A process of its own, started anew: CUDA does not survive a fork, nor a context this fault.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_misaligned(), testing::ExitedWithCode(0), "");
}

TEST_F(TileStoreOnGpuDeathTest, ASourceOff128BytesIsAMisalignedAddress) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_off_128_bytes(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tidemark::kernels
