// The programs of tile stores, with their checks, on a real GPU against expectations written out
// here, one loop per test; the suite's oracle has no part in it.
#include "kernels/ops/tile_store.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"

namespace tidemark {
namespace {

class TileStoreOnGpu : public GpuTest {};

using Bytes = std::vector<std::uint8_t>;
using Traces = std::vector<std::uint64_t>;

/// All of `stores` in one call, so that they share launches.
std::vector<RunResult> run_all(Device& device, const std::vector<TileStore>& stores) {
  std::vector<Program> programs;
  for (const TileStore& store : stores) programs.push_back(checked_program(store));
  return device.run_programs(programs);
}

RunResult run(Device& device, const TileStore& store) { return run_all(device, {store}).front(); }
RunResult run(const TileStore& store) { return run(*make_cuda_device(), store); }

/// Traces of the waits for groups, in their order: kProbes words of each store, and 0 for the last
/// wait, which reads nothing.
Traces words_read(const TileStore& store, const RunResult& result) {
  const Program program = checked_program(store);
  Traces words;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == Verb::wait_group) words.push_back(result.trace.at(i));
  return words;
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

TEST_F(TileStoreOnGpu, AnInteriorBoxArrivesByteForByte) {
  const TileStore store = matrix_store(16, 5);
  Bytes expected = poisoned(store);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 208 * (5 + y) + 32 + byte] = source_byte(store.payload, 1024 + 64 * y + byte);

  const RunResult result = run(store);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.note, "");
  EXPECT_EQ(result.surroundings, expected);
}

TEST_F(TileStoreOnGpu, TheInvertedPayloadInvertsPoisonAndSource) {
  TileStore store = matrix_store(16, 5);
  const auto device = make_cuda_device();
  const Bytes plain = run(*device, store).surroundings;
  store.payload.inverted = true;

  const Bytes inverted = run(*device, store).surroundings;

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

  EXPECT_EQ(run(store).surroundings, expected);
}

TEST_F(TileStoreOnGpu, ABoxWhollyOutsideWritesNothingAndCompletes) {
  const TileStore store = matrix_store(1024, 1000);

  const RunResult result = run(store);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.surroundings, poisoned(store));
  EXPECT_EQ(words_read(store, result), Traces(3, 0));
}

TEST_F(TileStoreOnGpu, TheWindowIsReadBackUnchanged) {
  const TileStore store = matrix_store(16, 5);
  Bytes expected(1024 + 512 + 1024);
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = source_byte(store.payload, i);

  EXPECT_EQ(run(store).bytes, expected);
}

TEST_F(TileStoreOnGpu, AReadTileCanBeOverwritten) {
  TileStore store = matrix_store(16, 5);
  const auto device = make_cuda_device();
  const Bytes stored = run(*device, store).surroundings;
  store.wait = StoreWait::read;
  Bytes window(1024 + 512 + 1024);
  for (std::size_t i = 0; i < window.size(); ++i) {
    const std::uint8_t byte = source_byte(store.payload, i);
    window[i] = i >= 1024 && i < 1024 + 512 ? static_cast<std::uint8_t>(~byte) : byte;
  }

  const RunResult result = run(*device, store);

  EXPECT_EQ(result.surroundings, stored);
  EXPECT_EQ(result.bytes, window);
}

TEST_F(TileStoreOnGpu, TheIssuingThreadReadsWhatItWaitedFor) {
  TileStore store = matrix_store(16, 16);
  store.stores = 4;  // rows 16 to 39, and the last box outside

  Traces expected;
  for (std::uint32_t group = 0; group < 3; ++group) {
    expected.push_back(source_word(store.payload, (1024 + 512 * group) / 8));
    expected.push_back(source_word(store.payload, (1024 + 512 * group + 7 * 64 + 56) / 8));
  }
  expected.insert(expected.end(), {0, 0, 0});  // of the box outside, and of the last wait

  EXPECT_EQ(words_read(store, run(store)), expected);
}

TEST_F(TileStoreOnGpu, FourGroupsFillFourBoxes) {
  TileStore store = matrix_store(16, 3);
  store.stores = 4;
  Bytes expected = poisoned(store);
  for (std::uint32_t y = 0; y < 32; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 208 * (3 + y) + 32 + byte] = source_byte(store.payload, 1024 + 64 * y + byte);

  EXPECT_EQ(run(store).surroundings, expected);
}

TEST_F(TileStoreOnGpu, OneDimension) {
  const TileStore store{.map = {.type = DataType::u32, .rank = 1, .extent = {1000}, .box = {64}},
                        .at = {500},
                        .payload = {.seed = 8}};
  Bytes expected = poisoned(store);
  for (std::uint32_t byte = 0; byte < 256; ++byte)
    expected[1024 + 4 * 500 + byte] = source_byte(store.payload, 1024 + byte);

  EXPECT_EQ(run(store).surroundings, expected);
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

  EXPECT_EQ(run(store).surroundings, expected);
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

  EXPECT_EQ(run(store).surroundings, expected);
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

  EXPECT_EQ(run(store).surroundings, expected);
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
  const Bytes alone = run(*device, small).surroundings;

  const RunResult between = run(*device, large);

  EXPECT_EQ(between.fault, DeviceFault::none) << between.note;
  EXPECT_EQ(between.surroundings.at(1024 + 189 * 1024 + 1023),
            source_byte(large.payload, 1024 + 189 * 1024 + 1023));
  EXPECT_EQ(run(*device, small).surroundings, alone);
}

TEST_F(TileStoreOnGpu, EveryCacheHintLandsTheSameBytes) {
  TileStore store = matrix_store(16, 5);
  store.stores = 3;
  const auto device = make_cuda_device();
  const RunResult plain = run(*device, store);
  for (const CacheHint hint :
       {CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last}) {
    SCOPED_TRACE(static_cast<int>(hint));
    store.hint = hint;

    const RunResult result = run(*device, store);

    EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
    EXPECT_EQ(result.surroundings, plain.surroundings);
    EXPECT_EQ(words_read(store, result), words_read(store, plain));
  }
}

TEST_F(TileStoreOnGpu, EveryRankTakesACacheHint) {
  const auto device = make_cuda_device();
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
    SCOPED_TRACE(rank);
    TileStore store{.map = {.type = DataType::u32,
                            .rank = rank,
                            .extent = {16, 4, 4, 4, 4},
                            .stride = {64, 256, 1024, 4096},
                            .box = {8, 2, 2, 2, 2}},
                    .at = {4, 1, 1, 1, 1},
                    .payload = {.seed = 14}};
    const Bytes plain = run(*device, store).surroundings;
    store.hint = CacheHint::evict_first;

    const RunResult result = run(*device, store);

    EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
    EXPECT_NE(result.surroundings, poisoned(store));
    EXPECT_EQ(result.surroundings, plain);
  }
}

TEST_F(TileStoreOnGpu, MemoryOfEverySourceTakesTheSameBytes) {
  TileStore store = matrix_store(16, 5);
  store.stores = 3;
  const auto device = make_cuda_device();
  const RunResult plain = run(*device, store);
  for (const MemorySource destination :
       {MemorySource::async, MemorySource::pinned, MemorySource::mapped}) {
    SCOPED_TRACE(static_cast<int>(destination));
    store.destination = destination;

    const RunResult result = run(*device, store);

    EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
    EXPECT_EQ(result.surroundings, plain.surroundings);
    EXPECT_EQ(words_read(store, result), words_read(store, plain));
  }
}

TEST_F(TileStoreOnGpu, ElementsOfATypeThatIsConvertedAreNormalNumbers) {
  TileStore store = matrix_store(8, 5);
  store.map.type = DataType::tf32;
  store.map.box = {16, 8};
  store.map.extent = {48, 40};
  Bytes expected = poisoned(store);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte) {
      const std::uint32_t word =
          source_element_word(store.payload, DataType::tf32, (1024 + 64 * y + byte) / 4);
      expected[1024 + 208 * (5 + y) + 32 + byte] =
          static_cast<std::uint8_t>(word >> 8 * (byte % 4));
    }

  EXPECT_EQ(run(store).surroundings, expected);
}

TEST_F(TileStoreOnGpu, ManyStoresSideBySideKeepApart) {
  std::vector<TileStore> stores;
  for (std::uint32_t i = 0; i < 300; ++i) {  // more than one launch takes
    stores.push_back(
        matrix_store(static_cast<std::int32_t>(8 * (i % 9)), static_cast<std::int32_t>(i % 33)));
    stores.back().payload.seed = 100 + i;
    stores.back().source_offset = 128 * (i % 5);
  }

  const std::vector<RunResult> results = run_all(*make_cuda_device(), stores);

  for (std::uint32_t i = 0; i < stores.size(); ++i) {
    SCOPED_TRACE("store " + std::to_string(i));
    Bytes expected = poisoned(stores[i]);
    for (std::uint32_t y = 0; y < 8; ++y)
      for (std::uint32_t byte = 0; byte < 64; ++byte)
        expected[1024 + 208 * (i % 33 + y) + 16 * (i % 9) + byte] =
            source_byte(stores[i].payload, 1024 + 128 * (i % 5) + 64 * y + byte);
    EXPECT_EQ(results[i].fault, DeviceFault::none) << results[i].note;
    EXPECT_EQ(results[i].surroundings, expected);
  }
}

TEST_F(TileStoreOnGpu, ARefusedMapIsAnAnswerAndTheDeviceStaysUsable) {
  TileStore refused = matrix_store(16, 5);
  refused.map.stride = {200};  // no multiple of 16
  const auto device = make_cuda_device();

  const RunResult result = run(*device, refused);

  EXPECT_EQ(result.fault, DeviceFault::encode_refused);
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.bytes.empty());
  EXPECT_EQ(run(*device, matrix_store(16, 5)).fault, DeviceFault::none);
}

TEST_F(TileStoreOnGpu, AWindowThatDoesNotFitIsRefusedInWords) {
  TileStore store = matrix_store(0, 0);
  store.map.box = {256, 128};
  store.stores = 4;

  try {
    (void)run(store);
    FAIL() << "a window of 258 KiB ran";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("264192 bytes"), std::string::npos) << error.what();
  }
}

/// Ends the process: 0 where the fault came as predicted. x = 1 lies 2 bytes off a multiple of 16.
[[noreturn]] void run_misaligned() {
  const auto device = make_cuda_device();
  const RunResult result = run(*device, matrix_store(1, 0));
  const bool sticky = result.fault == DeviceFault::sticky && result.code == 715;
  const RunResult next = run(*device, matrix_store(16, 5));
  std::cerr << "fault " << result.code << " (" << result.note << "), then " << next.code << " ("
            << next.note << ")\n";
  std::_Exit(sticky && next.fault == DeviceFault::sticky ? 0 : 1);
}

/// The same for a source 16 bytes off the 128 on which a tile has to start.
[[noreturn]] void run_off_128_bytes() {
  TileStore store = matrix_store(16, 5);
  store.source_offset = 16;
  const RunResult result = run(store);
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
}  // namespace tidemark
