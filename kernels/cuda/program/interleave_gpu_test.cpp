// Copies by interleaved maps on a real GPU against what an H100 (driver 580.159.04) moved; the
// suite's oracle and the virtual device have no part in it.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda/cuda_device.hpp"
#include "kernels/cuda/gpu_test.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/tile_store.hpp"

namespace tidemark {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::int64_t kZeros = -1;

/// Bytes `begin` to `end` come from `from` on.
struct Piece {
  std::uint64_t begin = 0, end = 0;
  std::int64_t from = kZeros;
};

/// Six units of 16 bytes along W, five rows, four slices, three images.
TensorMapSpec units() {
  return {.type = DataType::u16,
          .rank = 4,
          .extent = {6, 5, 4, 3},
          .stride = {96, 512, 2048},
          .box = {8, 2, 16, 1},
          .interleave = Interleave::b16};
}

class InterleaveOnGpu : public GpuTest {
 protected:
  static RunResult run(const Program& program) {
    return make_cuda_device()->run_programs({&program, 1}).front();
  }

  /// The tile has what the pieces say, and is as long: what a load credits is what it writes.
  static void expect_tile(const TileLoad& load, const std::vector<Piece>& pieces) {
    const RunResult result = run(program_of(load));
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    const std::uint64_t end = pieces.back().end;
    ASSERT_EQ(tile_bytes(load.map), end);
    Bytes expected(end);
    for (const Piece& piece : pieces)
      for (std::uint64_t i = piece.begin; piece.from != kZeros && i < piece.end; ++i)
        expected[i] = source_byte(load.payload,
                                  1024 + static_cast<std::uint64_t>(piece.from) + i - piece.begin);
    const auto first = result.bytes.begin() + 1024;
    EXPECT_EQ(Bytes(first, first + static_cast<std::ptrdiff_t>(end)), expected);
  }

  /// The tensor has what the pieces say, from places of the tile, and else what it had.
  static void expect_stored(const TileStore& store, const std::vector<Piece>& pieces) {
    const RunResult result = run(program_of(store));
    ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
    Bytes expected(result.surroundings.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = poison_byte(store.payload, i);
    for (const Piece& piece : pieces)
      for (std::uint64_t i = piece.begin; i < piece.end; ++i)
        expected[1024 + i] = source_byte(
            store.payload, 1024 + static_cast<std::uint64_t>(piece.from) + i - piece.begin);
    EXPECT_EQ(result.surroundings, expected);
  }

  static bool is_accepted(const TensorMapSpec& map) {
    const Program program{.window = 4096,
                          .barriers = 1,
                          .regions = {{.bytes = 1 << 20}},
                          .maps = {{.spec = map}},
                          .steps = {{.verb = Verb::snapshot}},
                          .payload = {}};
    const RunResult result = run(program);
    EXPECT_TRUE(result.fault == DeviceFault::none || result.fault == DeviceFault::encode_refused)
        << result.note;
    return result.fault == DeviceFault::none;
  }
};

TEST_F(InterleaveOnGpu, ALoadTakesUnitsOfOneSliceAndZerosBehindThem) {
  expect_tile({.map = units(), .at = {2, 0, 1, 0}, .payload = {.seed = 7}},
              {{0, 64, 544}, {64, 128}, {128, 192, 640}, {192, 256}});
}

TEST_F(InterleaveOnGpu, UnitsAreSixteenBytesOfBytesToo) {
  TileLoad load{.map = units(), .payload = {.seed = 7}};
  load.map.type = DataType::u8;
  load.map.stride = {16, 96, 512};
  load.map.box = {16, 3, 32, 1};
  expect_tile(load,
              {{0, 96, 0}, {96, 256}, {256, 352, 16}, {352, 512}, {512, 608, 32}, {608, 768}});
}

TEST_F(InterleaveOnGpu, ElementStridesCountAlongW) {
  TileLoad load{.map = units(), .at = {-1, 0, 0, 0}, .payload = {.seed = 7}};
  load.map.extent[0] = 16;
  load.map.stride = {256, 1280, 5120};
  load.map.box = {8, 3, 8, 1};
  load.map.element_stride = {3, 2, 1, 1, 1};
  expect_tile(load, {{0, 16}, {16, 32, 32}, {32, 48, 80}, {48, 64}, {64, 80, 544}, {80, 96, 592}});
}

TEST_F(InterleaveOnGpu, RowsNarrowerThanTheSwizzleLieSideBySide) {
  TileLoad load{.map = units(), .payload = {.seed = 7}};
  load.map.extent[0] = 16;
  load.map.stride = {256, 1280, 5120};
  load.map.box = {8, 3, 16, 1};
  load.map.element_stride[0] = 4;
  load.map.swizzle = Swizzle::b128;
  expect_tile(
      load, {{0, 16, 0}, {16, 32, 64}, {32, 48, 256}, {48, 64, 320}, {64, 80, 512}, {80, 96, 576}});
}

TEST_F(InterleaveOnGpu, HalvesOfUnitsOf32BytesAreSwizzled) {
  TileLoad load{.map = units(), .payload = {.seed = 7}};
  load.map.type = DataType::u32;
  load.map.stride = {192, 1024, 4096};
  load.map.box = {4, 3, 16, 1};
  load.map.interleave = Interleave::b32;
  load.map.swizzle = Swizzle::b32;
  expect_tile(load, {{0, 128, 0},
                     {128, 144, 208},
                     {144, 160, 192},
                     {160, 176, 240},
                     {176, 192, 224},
                     {192, 208, 272},
                     {208, 224, 256},
                     {224, 240, 304},
                     {240, 256, 288},
                     {256, 384, 384}});
}

TEST_F(InterleaveOnGpu, AStoreWritesTheUnitsOfOneSliceAndNothingElse) {
  expect_stored({.map = units(), .at = {0, 0, 1, 0}, .payload = {.seed = 7}},
                {{512, 608, 0}, {608, 704, 128}});
}

TEST_F(InterleaveOnGpu, AStoreIsClippedAtTheLastRow) {
  expect_stored({.map = units(), .at = {0, 4, 2, 0}, .payload = {.seed = 7}}, {{1408, 1504, 0}});
}

TEST_F(InterleaveOnGpu, AStoreTakesItsSecondRowSwizzled) {
  TileStore store{.map = units(), .payload = {.seed = 7}};
  store.map.swizzle = Swizzle::b128;
  expect_stored(store, {{0, 96, 0},
                        {96, 112, 144},
                        {112, 128, 128},
                        {128, 144, 176},
                        {144, 160, 160},
                        {160, 176, 208},
                        {176, 192, 192}});
}

TEST_F(InterleaveOnGpu, TheDriverRefusesRank2AndRowsOffSixteenBytes) {
  EXPECT_TRUE(is_accepted(units()));
  TensorMapSpec map = units();
  map.rank = 2;
  EXPECT_FALSE(is_accepted(map)) << "rank 2";
  for (const std::uint32_t box : {4U, 12U}) {
    map = units();
    map.box[0] = box;
    EXPECT_FALSE(is_accepted(map)) << "box " << box << " of u16";
  }
}

}  // namespace
}  // namespace tidemark
