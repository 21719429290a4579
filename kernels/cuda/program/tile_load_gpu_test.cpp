// The programs of tile loads, with their checks, on a real GPU against expectations written out
// here, one loop per test; the suite's oracle has no part in it.
#include "kernels/ops/tile_load.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"

namespace tidemark {
namespace {

class TileLoadOnGpu : public GpuTest {};

using Bytes = std::vector<std::uint8_t>;
using Traces = std::vector<std::uint64_t>;

/// All of `loads` in one call, so that they share launches.
std::vector<RunResult> run_all(Device& device, const std::vector<TileLoad>& loads) {
  std::vector<Program> programs;
  for (const TileLoad& load : loads) programs.push_back(checked_program(load));
  return device.run_programs(programs);
}

RunResult run(Device& device, const TileLoad& load) { return run_all(device, {load}).front(); }
RunResult run(const TileLoad& load) { return run(*make_cuda_device(), load); }

/// Traces of the steps of one verb, in their order.
Traces traces(const TileLoad& load, const RunResult& result, Verb verb) {
  const Program program = checked_program(load);
  Traces of_verb;
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == verb) of_verb.push_back(result.trace.at(i));
  return of_verb;
}

/// Whether no phase completed early or late, and each copy was credited what was announced for it.
void expect_exact_credit(const TileLoad& load, const RunResult& result) {
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(traces(load, result, Verb::test), Traces(4, 0));
  EXPECT_EQ(traces(load, result, Verb::wait), Traces(4, 1));
  EXPECT_EQ(traces(load, result, Verb::meter), Traces(2, meter_trace(false, true, 0)));
}

/// Whether `window` is what each copy left: there is a snapshot behind each of the two copies, at
/// the end, and behind the exact copy of the checks.
void expect_windows(const TileLoad& load, const RunResult& result, const Bytes& window) {
  expect_exact_credit(load, result);
  EXPECT_EQ(result.note, "");
  ASSERT_EQ(result.bytes.size(), 4 * window.size());
  for (std::size_t at = 0; at < result.bytes.size(); at += window.size())
    EXPECT_EQ(Bytes(&result.bytes[at], &result.bytes[at] + window.size()), window) << at;
}

constexpr std::array kSources = {MemorySource::device, MemorySource::async, MemorySource::pinned,
                                 MemorySource::mapped};

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

  expect_windows(load, run(load), expected);
}

TEST_F(TileLoadOnGpu, TheInvertedPayloadInvertsPoisonAndSource) {
  TileLoad load = matrix_load(16, 5);
  load.payload.inverted = true;
  Bytes expected = poisoned_window(load);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 64 * y + byte] =
          source_byte(load.payload, 1024 + 208 * (5 + y) + 2 * 16 + byte);

  expect_windows(load, run(load), expected);
}

TEST_F(TileLoadOnGpu, WhatLiesOutsideIsZero) {
  const TileLoad load = matrix_load(-8, 36);  // 8 columns to the left, 4 rows below
  Bytes expected = poisoned_window(load);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 64 * y + byte] =
          y < 4 && byte >= 16 ? source_byte(load.payload, 1024 + 208 * (36 + y) + byte - 16) : 0;

  expect_windows(load, run(load), expected);
}

TEST_F(TileLoadOnGpu, ABoxWhollyOutsideCreditsItsFullSize) {
  const TileLoad load = matrix_load(1024, 1000);
  Bytes expected = poisoned_window(load);
  std::fill_n(expected.begin() + 1024, 512, std::uint8_t{0});

  expect_windows(load, run(load), expected);
}

TEST_F(TileLoadOnGpu, WhatLiesOutsideIsZeroBehindADestinationOffset) {
  TileLoad load = matrix_load(-8, 36);
  load.destination_offset = 256;
  Bytes expected = poisoned_window(load);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 256 + 64 * y + byte] =
          y < 4 && byte >= 16 ? source_byte(load.payload, 1024 + 208 * (36 + y) + byte - 16) : 0;

  expect_windows(load, run(load), expected);
}

TEST_F(TileLoadOnGpu, TheSmallestTileCanBeMetered) {
  const TileLoad load{.map = {.rank = 1, .extent = {16}, .box = {16}}, .payload = {.seed = 3}};
  Bytes expected = poisoned_window(load);
  for (std::uint32_t byte = 0; byte < 16; ++byte)
    expected[1024 + byte] = source_byte(load.payload, 1024 + byte);

  expect_windows(load, run(load), expected);
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
  std::vector<TileLoad> loads;
  for (std::uint32_t rank = 1; rank <= 5; ++rank)
    for (const CacheHint hint :
         {CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last})
      loads.push_back(load_of_rank(rank, hint));

  const std::vector<RunResult> results = run_all(*make_cuda_device(), loads);

  for (std::size_t i = 0; i < loads.size(); ++i) {
    const TileLoad& load = loads[i];
    const std::uint32_t rows = load.map.rank == 1 ? 1 : 8, first = load.map.rank == 1 ? 0 : 5;
    Bytes expected = poisoned_window(load);
    for (std::uint32_t y = 0; y < rows; ++y)
      for (std::uint32_t byte = 0; byte < 64; ++byte)
        expected[1024 + 64 * y + byte] =
            source_byte(load.payload, 1024 + 208 * (first + y) + 2 * 16 + byte);
    SCOPED_TRACE(testing::Message()
                 << "rank " << load.map.rank << ", hint " << static_cast<int>(load.hint));
    expect_windows(load, results[i], expected);
  }
}

TEST_F(TileLoadOnGpu, EachSourceOfMemoryIsReadAlikeAndReadBack) {
  std::vector<TileLoad> loads(kSources.size(), matrix_load(16, 5));
  for (std::size_t i = 0; i < loads.size(); ++i) loads[i].source = kSources[i];
  Bytes expected = poisoned_window(loads[0]);
  for (std::uint32_t y = 0; y < 8; ++y)
    for (std::uint32_t byte = 0; byte < 64; ++byte)
      expected[1024 + 64 * y + byte] =
          source_byte(loads[0].payload, 1024 + 208 * (5 + y) + 2 * 16 + byte);
  Bytes allocation(source_allocation_bytes(loads[0]));
  for (std::uint64_t i = 0; i < allocation.size(); ++i)
    allocation[i] = source_byte(loads[0].payload, i);

  const std::vector<RunResult> results = run_all(*make_cuda_device(), loads);

  for (std::size_t i = 0; i < loads.size(); ++i) {
    SCOPED_TRACE(static_cast<int>(loads[i].source));
    expect_windows(loads[i], results[i], expected);
    EXPECT_EQ(results[i].surroundings, allocation);
  }
}

TEST_F(TileLoadOnGpu, ALargerRowGrowsEachSourceOfMemory) {
  const TileLoad large{.map = {.type = DataType::u32,
                               .rank = 2,
                               .extent = {1024, 1024},
                               .stride = {4096},
                               .box = {16, 4}},
                       .at = {1008, 1020},
                       .payload = {.seed = 14}};
  std::vector<TileLoad> smalls(kSources.size(), matrix_load(16, 5)), larges(kSources.size(), large);
  for (std::size_t i = 0; i < kSources.size(); ++i)
    smalls[i].source = larges[i].source = kSources[i];
  const auto device = make_cuda_device();
  for (const RunResult& small : run_all(*device, smalls)) ASSERT_EQ(small.fault, DeviceFault::none);

  const std::vector<RunResult> results = run_all(*device, larges);

  for (std::size_t i = 0; i < larges.size(); ++i) {
    SCOPED_TRACE(static_cast<int>(larges[i].source));
    expect_exact_credit(larges[i], results[i]);
    EXPECT_EQ(results[i].bytes.at(1024 + 255),
              source_byte(large.payload, 1024 + 4096ULL * 1024 - 1));
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

  expect_windows(load, run(load), expected);
}

TEST_F(TileLoadOnGpu, OneDimension) {
  const TileLoad load{.map = {.type = DataType::u32, .rank = 1, .extent = {1000}, .box = {64}},
                      .at = {500},
                      .payload = {.seed = 8}};
  Bytes expected = poisoned_window(load);
  for (std::uint32_t byte = 0; byte < 256; ++byte)
    expected[1024 + byte] = source_byte(load.payload, 1024 + 4 * 500 + byte);

  expect_windows(load, run(load), expected);
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

  expect_windows(load, run(load), expected);
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

  expect_windows(load, run(load), expected);
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

  expect_windows(load, run(load), expected);
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

  expect_windows(load, run(load), expected);
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

  expect_windows(load, run(load), expected);
  EXPECT_EQ(tile_bytes(load.map), 48U * 16);
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
  const RunResult alone = run(*device, small);

  const RunResult between = run(*device, large);

  expect_exact_credit(large, between);
  const RunResult again = run(*device, small);
  EXPECT_EQ(again.bytes, alone.bytes);
  EXPECT_EQ(again.trace, alone.trace);
  EXPECT_EQ(again.surroundings, alone.surroundings);
}

TEST_F(TileLoadOnGpu, ARefusedMapIsAnAnswerAndTheDeviceStaysUsable) {
  TileLoad refused = matrix_load(16, 5);
  refused.map.stride = {200};  // no multiple of 16
  const auto device = make_cuda_device();

  const RunResult result = run(*device, refused);

  EXPECT_EQ(result.fault, DeviceFault::encode_refused);
  EXPECT_EQ(result.code, 1);
  EXPECT_TRUE(result.bytes.empty());
  EXPECT_EQ(run(*device, matrix_load(16, 5)).fault, DeviceFault::none);
}

TEST_F(TileLoadOnGpu, AWindowThatDoesNotFitIsRefusedInWords) {
  TileLoad load = matrix_load(0, 0);
  load.map.box = {256, 256};
  load.map.type = DataType::u32;

  try {
    (void)run(load);
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
  EXPECT_THROW((void)run(load), Error);
}

/// Ends the process: 0 where the fault came as predicted. x = 1 lies 2 bytes off a multiple of 16.
[[noreturn]] void run_misaligned() {
  const auto device = make_cuda_device();
  const RunResult result = run(*device, matrix_load(1, 0));
  const bool sticky = result.fault == DeviceFault::sticky && result.code == 715;
  const bool named = result.note.find("cudaErrorIllegalInstruction") != std::string::npos;
  // The context is gone: the next row has to say so instead of passing.
  const RunResult next = run(*device, matrix_load(16, 5));
  const bool still = next.fault == DeviceFault::sticky;
  std::cerr << "fault " << result.code << " (" << result.note << "), then " << next.code << " ("
            << next.note << ")\n";
  std::_Exit(sticky && named && still ? 0 : 1);
}

/// The same for a destination 16 bytes off the 128 on which a tile has to start.
[[noreturn]] void run_off_128_bytes() {
  TileLoad load = matrix_load(16, 5);
  load.destination_offset = 16;
  const RunResult result = run(load);
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
}  // namespace tidemark
