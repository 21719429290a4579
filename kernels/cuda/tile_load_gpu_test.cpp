// Tile loads on a real GPU against expectations written out here, one loop per test; the suite's
// oracle has no part in it.
#include "kernels/ops/tile_load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

class TileLoadOnGpu : public GpuTest {};

using Bytes = std::vector<std::uint8_t>;

/// 100 x 40 elements of two bytes, rows 208 bytes apart; a box of 32 x 8.
TileLoad matrix_load(std::int32_t x, std::int32_t y) {
  return {.map = {.type = DataType::u16,
                  .rank = 2,
                  .extent = {100, 40},
                  .stride = {208},
                  .box = {32, 8}},
          .at = {x, y},
          .payload = {.seed = 7}};
}

/// The window as it is before the copy.
Bytes poisoned_window(const TileLoad& load) {
  Bytes window(window_bytes(load));
  for (std::uint32_t i = 0; i < window.size(); ++i) window[i] = poison_byte(load.payload, i);
  return window;
}

TEST_F(TileLoadOnGpu, AnInteriorBoxArrivesByteForByte) {
  const TileLoad load = matrix_load(16, 5);
  Bytes expected = poisoned_window(load);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 64 * y + byte] =
          source_byte(load.payload, 1024 + 208 * (5 + y) + 2 * 16 + byte);

  const RunResult result = make_cuda_device()->run(load);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.note, "");
  EXPECT_EQ(result.bytes, expected);
}

TEST_F(TileLoadOnGpu, TheInvertedPayloadInvertsPoisonAndSource) {
  TileLoad load = matrix_load(16, 5);
  load.payload.inverted = true;
  Bytes expected = poisoned_window(load);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 64 * y + byte] =
          source_byte(load.payload, 1024 + 208 * (5 + y) + 2 * 16 + byte);

  const RunResult result = make_cuda_device()->run(load);

  EXPECT_EQ(result.bytes, expected);
}

TEST_F(TileLoadOnGpu, WhatLiesOutsideIsZero) {
  const TileLoad load = matrix_load(-8, 36);  // 8 columns to the left, 4 rows below
  Bytes expected = poisoned_window(load);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 64 * y + byte] =
          y < 4 && byte >= 16 ? source_byte(load.payload, 1024 + 208 * (36 + y) + byte - 16) : 0;

  const RunResult result = make_cuda_device()->run(load);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, expected);
}

TEST_F(TileLoadOnGpu, ABoxWhollyOutsideCreditsItsFullSize) {
  const RunResult result = make_cuda_device()->run(matrix_load(1024, 1000));

  EXPECT_TRUE(result.ledger.complete);
  EXPECT_EQ(result.ledger.credited, 512U);
  EXPECT_EQ(std::count(result.bytes.begin() + 1024, result.bytes.begin() + 1024 + 512, 0), 512);
}

TEST_F(TileLoadOnGpu, TheLedgerTellsEachStep) {
  const BarrierLedger ledger = make_cuda_device()->run(matrix_load(16, 5)).ledger;

  EXPECT_FALSE(ledger.complete_before_issue);
  EXPECT_TRUE(ledger.complete);
  EXPECT_FALSE(ledger.next_complete_early);
  EXPECT_TRUE(ledger.next_complete);
  EXPECT_EQ(ledger.announced, 512U);
  EXPECT_EQ(ledger.credited, 512U);
  EXPECT_FALSE(ledger.metered_next_early);
  EXPECT_FALSE(ledger.metered_next_lost);
}

TEST_F(TileLoadOnGpu, EachOfFourCopiesFindsPoisonAndLeavesTheSame) {
  TileLoad load = matrix_load(-8, 36);
  load.destination_offset = 256;
  Bytes expected = poisoned_window(load);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 256 + 64 * y + byte] =
          y < 4 && byte >= 16 ? source_byte(load.payload, 1024 + 208 * (36 + y) + byte - 16) : 0;

  const RunResult result = make_cuda_device()->run(load);

  EXPECT_EQ(result.bytes, expected);
  ASSERT_EQ(result.later.size(), 3U);
  for (const Bytes& window : result.later) EXPECT_EQ(window, expected);
}

TEST_F(TileLoadOnGpu, TheSmallestTileCanBeMetered) {
  const TileLoad load{.map = {.rank = 1, .extent = {16}, .box = {16}}, .payload = {.seed = 3}};

  const RunResult result = make_cuda_device()->run(load);

  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.ledger.announced, 16U);
  EXPECT_EQ(result.ledger.credited, 16U);
}

/// A box at (16, 5) of the matrix, in each rank from 1 to 5 the same 32 x 8 or 32 elements.
TileLoad load_of_rank(std::uint32_t rank, CacheHint hint) {
  return {.map = {.type = DataType::u16,
                  .rank = rank,
                  .extent = {100, 40, 1, 1, 1},
                  .stride = {208, 8320, 8320, 8320},
                  .box = {32, 8, 1, 1, 1}},
          .at = {16, 5},
          .hint = hint,
          .payload = {.seed = 7}};
}

TEST_F(TileLoadOnGpu, NoCacheHintChangesAByteInAnyRank) {
  const auto device = make_cuda_device();
  for (std::uint32_t rank = 1; rank <= 5; ++rank)
    for (const CacheHint hint :
         {CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last}) {
      const TileLoad load = load_of_rank(rank, hint);
      const std::uint32_t rows = rank == 1 ? 1 : 8, first = rank == 1 ? 0 : 5;
      Bytes expected = poisoned_window(load);
      for (std::uint32_t y = 0; y < rows; ++y)
        for (std::uint32_t byte = 0; byte < 64; ++byte)
          expected[1024 + 64 * y + byte] =
              source_byte(load.payload, 1024 + 208 * (first + y) + 2 * 16 + byte);

      const RunResult result = device->run(load);

      EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
      EXPECT_EQ(result.bytes, expected) << rank << ", " << static_cast<int>(hint);
      EXPECT_EQ(result.ledger.credited, 64U * rows);
    }
}

TEST_F(TileLoadOnGpu, EachSourceOfMemoryIsReadAlikeAndReadBack) {
  const auto device = make_cuda_device();
  for (const MemorySource source :
       {MemorySource::device, MemorySource::async, MemorySource::pinned, MemorySource::mapped}) {
    TileLoad load = matrix_load(16, 5);
    load.source = source;
    Bytes expected = poisoned_window(load);
    for (std::uint32_t y = 0; y < 8; ++y)
      for (std::uint32_t byte = 0; byte < 64; ++byte)
        expected[1024 + 64 * y + byte] =
            source_byte(load.payload, 1024 + 208 * (5 + y) + 2 * 16 + byte);
    Bytes allocation(source_allocation_bytes(load));
    for (std::uint64_t i = 0; i < allocation.size(); ++i)
      allocation[i] = source_byte(load.payload, i);

    const RunResult result = device->run(load);

    EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
    EXPECT_EQ(result.bytes, expected) << static_cast<int>(source);
    EXPECT_EQ(result.surroundings, allocation) << static_cast<int>(source);
  }
}

TEST_F(TileLoadOnGpu, ALargerRowGrowsEachSourceOfMemory) {
  const auto device = make_cuda_device();
  for (const MemorySource source :
       {MemorySource::async, MemorySource::pinned, MemorySource::mapped}) {
    TileLoad small = matrix_load(16, 5);
    small.source = source;
    TileLoad large{.map = {.type = DataType::u32,
                           .rank = 2,
                           .extent = {1024, 1024},
                           .stride = {4096},
                           .box = {16, 4}},
                   .at = {1008, 1020},
                   .source = source,
                   .payload = {.seed = 14}};
    ASSERT_EQ(device->run(small).fault, DeviceFault::none);

    const RunResult result = device->run(large);

    EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
    EXPECT_EQ(result.bytes[1024 + 255], source_byte(large.payload, 1024 + 4096ULL * 1024 - 1));
  }
}

TEST_F(TileLoadOnGpu, OneCopyBringsAMatrixAsSwizzledAtoms) {
  // 16 rows of 256 bytes in two groups of 128: dimension 2 steps inside a row.
  const TileLoad load{.map = {.type = DataType::bf16,
                              .rank = 3,
                              .extent = {64, 40, 4},
                              .stride = {528, 128},
                              .box = {64, 16, 2},
                              .swizzle = Swizzle::b128},
                      .at = {0, 8, 1},
                      .payload = {.seed = 15}};
  Bytes expected = poisoned_window(load);
  for (std::uint32_t group = 0; group < 2; ++group)
    for (std::uint32_t y = 0; y < 16; ++y)
      for (std::uint32_t x = 0; x < 128; ++x)
        expected[1024 + 2048 * group + 128 * y + (x ^ (16 * (y % 8)))] =
            source_byte(load.payload, 1024 + 528 * (8 + y) + 128 * (1 + group) + x);

  EXPECT_EQ(make_cuda_device()->run(load).bytes, expected);
}

TEST_F(TileLoadOnGpu, TheSourceIsReadBackUnchanged) {
  const TileLoad load = matrix_load(16, 5);
  Bytes expected(source_allocation_bytes(load));
  for (std::uint64_t i = 0; i < expected.size(); ++i) expected[i] = source_byte(load.payload, i);

  const RunResult result = make_cuda_device()->run(load);

  EXPECT_EQ(result.surroundings, expected);
}

TEST_F(TileLoadOnGpu, OneDimension) {
  const TileLoad load{.map = {.type = DataType::u32, .rank = 1, .extent = {1000}, .box = {64}},
                      .at = {500},
                      .payload = {.seed = 8}};
  Bytes expected = poisoned_window(load);
  for (std::uint32_t byte = 0; byte < 256; ++byte)
    expected[1024 + byte] = source_byte(load.payload, 1024 + 4 * 500 + byte);

  EXPECT_EQ(make_cuda_device()->run(load).bytes, expected);
}

TEST_F(TileLoadOnGpu, ThreeDimensionsBehindTwoOffsets) {
  const TileLoad load{.map = {.type = DataType::u8,
                              .rank = 3,
                              .extent = {50, 9, 7},
                              .stride = {64, 640},
                              .box = {32, 4, 3},
                              .base_offset = 48},
                      .at = {16, 2, 1},
                      .destination_offset = 384,
                      .payload = {.seed = 9}};
  Bytes expected = poisoned_window(load);
  for (std::uint32_t z = 0; z < 3; ++z)
    for (std::uint32_t y = 0; y < 4; ++y)
      for (std::uint32_t x = 0; x < 32; ++x)
        expected[1024 + 384 + x + 32 * (y + 4 * z)] =
            source_byte(load.payload, 1024 + 48 + 640 * (1 + z) + 64 * (2 + y) + 16 + x);

  EXPECT_EQ(make_cuda_device()->run(load).bytes, expected);
}

TEST_F(TileLoadOnGpu, FourDimensionsWithAStrideInTheThird) {
  const TileLoad load{.map = {.type = DataType::u16,
                              .rank = 4,
                              .extent = {16, 5, 9, 3},
                              .stride = {32, 160, 1440},
                              .box = {8, 2, 5, 2},
                              .element_stride = {1, 1, 2, 1, 1}},
                      .at = {8, 1, 2, 0},
                      .payload = {.seed = 10}};
  Bytes expected = poisoned_window(load);
  for (std::uint32_t w = 0; w < 2; ++w)
    for (std::uint32_t z = 0; z < 3; ++z)  // ceil(5 / 2)
      for (std::uint32_t y = 0; y < 2; ++y)
        for (std::uint32_t byte = 0; byte < 16; ++byte)
          expected[1024 + byte + 16 * (y + 2 * (z + 3 * w))] = source_byte(
              load.payload, 1024 + 1440 * w + 160 * (2 + 2 * z) + 32 * (1 + y) + 16 + byte);

  EXPECT_EQ(make_cuda_device()->run(load).bytes, expected);
}

TEST_F(TileLoadOnGpu, FiveDimensions) {
  const TileLoad load{.map = {.type = DataType::u64,
                              .rank = 5,
                              .extent = {6, 5, 4, 3, 2},
                              .stride = {48, 240, 960, 2880},
                              .box = {2, 2, 2, 2, 2}},
                      .at = {2, 1, 1, 1, 0},
                      .payload = {.seed = 11}};
  Bytes expected = poisoned_window(load);
  for (std::uint32_t v = 0; v < 2; ++v)
    for (std::uint32_t w = 0; w < 2; ++w)
      for (std::uint32_t z = 0; z < 2; ++z)
        for (std::uint32_t y = 0; y < 2; ++y)
          for (std::uint32_t byte = 0; byte < 16; ++byte)
            expected[1024 + byte + 16 * (y + 2 * (z + 2 * (w + 2 * v)))] =
                source_byte(load.payload, 1024 + 2880 * v + 960 * (1 + w) + 240 * (1 + z) +
                                              48 * (1 + y) + 16 + byte);

  EXPECT_EQ(make_cuda_device()->run(load).bytes, expected);
}

TEST_F(TileLoadOnGpu, ASwizzledBoxHasItsPiecesExchanged) {
  const TileLoad load{.map = {.type = DataType::u8,
                              .rank = 2,
                              .extent = {128, 16},
                              .stride = {128},
                              .box = {128, 16},
                              .swizzle = Swizzle::b128},
                      .payload = {.seed = 12}};
  Bytes expected = poisoned_window(load);
  for (std::uint32_t y = 0; y < 16; ++y)
    for (std::uint32_t x = 0; x < 128; ++x)
      expected[1024 + 128 * y + (x ^ (16 * (y % 8)))] =
          source_byte(load.payload, 1024 + 128 * y + x);

  EXPECT_EQ(make_cuda_device()->run(load).bytes, expected);
}

// H200, driver 580.159.04, November 2026: not documented.
TEST_F(TileLoadOnGpu, RowsNarrowerThanTheSwizzleLieItsWidthApart) {
  const TileLoad load{.map = {.type = DataType::u8,
                              .rank = 2,
                              .extent = {128, 16},
                              .stride = {128},
                              .box = {48, 16},
                              .swizzle = Swizzle::b128},
                      .payload = {.seed = 12}};
  Bytes expected = poisoned_window(load);
  for (std::uint32_t y = 0; y < 16; ++y)
    for (std::uint32_t x = 0; x < 48; ++x)
      expected[1024 + 128 * y + (x ^ (16 * (y % 8)))] =
          source_byte(load.payload, 1024 + 128 * y + x);

  const RunResult result = make_cuda_device()->run(load);
  EXPECT_EQ(result.bytes, expected);
  EXPECT_EQ(result.ledger.credited, 48U * 16);
}

TEST_F(TileLoadOnGpu, ALargeRowLeavesNothingBehindForASmallOne) {
  const TileLoad large{.map = {.type = DataType::u32,
                               .rank = 2,
                               .extent = {256, 190},
                               .stride = {1024},
                               .box = {256, 190}},
                       .payload = {.seed = 13}};
  const TileLoad small = matrix_load(16, 5);
  const auto device = make_cuda_device();
  const Bytes alone = device->run(small).bytes;

  const RunResult between = device->run(large);

  EXPECT_EQ(between.ledger.credited, 4U * 256 * 190) << between.note;
  EXPECT_EQ(device->run(small).bytes, alone);
}

TEST_F(TileLoadOnGpu, ARefusedMapIsAnAnswerAndTheDeviceStaysUsable) {
  TileLoad refused = matrix_load(16, 5);
  refused.map.stride = {200};  // no multiple of 16
  const auto device = make_cuda_device();

  const RunResult result = device->run(refused);

  EXPECT_EQ(result.fault, DeviceFault::encode_refused);
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.bytes.empty());
  EXPECT_EQ(device->run(matrix_load(16, 5)).fault, DeviceFault::none);
}

TEST_F(TileLoadOnGpu, AWindowThatDoesNotFitIsRefusedInWords) {
  TileLoad load = matrix_load(0, 0);
  load.map.box = {256, 256};
  load.map.type = DataType::u32;

  try {
    (void)make_cuda_device()->run(load);
    FAIL() << "a window of 258 KiB ran";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("264192 bytes"), std::string::npos) << error.what();
  }
}

TEST_F(TileLoadOnGpu, ABoxWhoseSizeLeaves32BitsIsRefusedInWords) {
  const TileLoad load{.map = {.type = DataType::u64,
                              .rank = 5,
                              .extent = {256, 1, 1, 1, 1},
                              .stride = {2048, 2048, 2048, 2048},
                              .box = {256, 256, 256, 256, 256}},
                      .payload = {}};
  EXPECT_THROW((void)make_cuda_device()->run(load), Error);
}

TEST_F(TileLoadOnGpu, MeasuresAsManySamplesAsAsked) {
  const Measurement measured =
      make_cuda_device()->measure(matrix_load(16, 5), {.warmups = 1, .samples = 4});

  ASSERT_EQ(measured.fault, DeviceFault::none) << measured.note;
  ASSERT_EQ(measured.samples.size(), 4U);
  EXPECT_GT(measured.samples[0].total_ns, 0);
  EXPECT_GT(measured.samples[3].at_unix_s, 1.7e9);
}

/// Ends the process: 0 where the fault came as predicted. x = 1 lies 2 bytes off a multiple of 16.
[[noreturn]] void run_misaligned() {
  const auto device = make_cuda_device();
  const RunResult result = device->run(matrix_load(1, 0));
  const bool sticky = result.fault == DeviceFault::sticky && result.code == 715;
  const bool named = result.note.find("cudaErrorIllegalInstruction") != std::string::npos;
  // The context is gone: the next row has to say so instead of passing.
  const RunResult next = device->run(matrix_load(16, 5));
  const bool still = next.fault == DeviceFault::sticky;
  std::cerr << "fault " << result.code << " (" << result.note << "), then " << next.code << " ("
            << next.note << ")\n";
  std::_Exit(sticky && named && still ? 0 : 1);
}

/// The same for a destination 16 bytes off the 128 on which a tile has to start.
[[noreturn]] void run_off_128_bytes() {
  TileLoad load = matrix_load(16, 5);
  load.destination_offset = 16;
  const RunResult result = make_cuda_device()->run(load);
  std::cerr << "fault " << result.code << " (" << result.note << ")\n";
  std::_Exit(result.fault == DeviceFault::sticky && result.code == kMisalignedAddress ? 0 : 1);
}

using TileLoadOnGpuDeathTest = TileLoadOnGpu;

TEST_F(TileLoadOnGpuDeathTest, AnInnerCoordinateOffSixteenBytesIsAnIllegalInstruction) {
  // A process of its own, started anew: CUDA does not survive a fork, nor a context this fault.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_misaligned(), testing::ExitedWithCode(0), "");
}

TEST_F(TileLoadOnGpuDeathTest, ADestinationOff128BytesIsAMisalignedAddress) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_off_128_bytes(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace tidemark::kernels
