// Copies by interleaved maps on the virtual device against what an H100 (driver 580.159.04) moved,
// and what each of their faults changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/ops/tile_store.hpp"
#include "kernels/virtual/copies/map_faults.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes tile_of(const TileLoad& load, Fault fault = kNoFault) {
  const RunResult result = run_virtual_program(program_of(load), fault);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  return {result.bytes.begin() + kGuardBytes,
          result.bytes.begin() + kGuardBytes + tile_bytes(load.map)};
}

Bytes left_by(const TileStore& store, Fault fault = kNoFault) {
  const RunResult result = run_virtual_program(program_of(store), fault);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  return result.surroundings;
}

constexpr std::int64_t kZeros = -1;

// Bytes of the tile, and where in the tensor they come from.
struct Piece {
  std::uint64_t begin = 0, end = 0;
  std::int64_t from = kZeros;
};

Bytes tile_from(const TileLoad& load, const std::vector<Piece>& pieces) {
  Bytes tile(pieces.back().end);
  for (const Piece& piece : pieces)
    for (std::uint64_t i = piece.begin; piece.from != kZeros && i < piece.end; ++i)
      tile[i] = source_byte(load.payload,
                            kGuardBytes + static_cast<std::uint64_t>(piece.from) + i - piece.begin);
  return tile;
}

// Six units of 16 bytes along W, five rows, four slices, three images; rows of two images lie
// apart.
TensorMapSpec units() {
  return {.type = DataType::u16,
          .rank = 4,
          .extent = {6, 5, 4, 3},
          .stride = {96, 512, 2048},
          .box = {8, 2, 16, 1},
          .interleave = Interleave::b16};
}

TEST(Interleave, ALoadTakesUnitsOfOneSlice) {
  TileLoad load{.map = units(), .at = {2, 0, 1, 0}, .payload = {.seed = 7}};
  EXPECT_EQ(tile_of(load), tile_from(load, {{0, 64, 544}, {64, 128}, {128, 192, 640}, {192, 256}}));
}

TEST(Interleave, UnitsAreSixteenBytesWhateverTheType) {
  TileLoad load{.map = units(), .payload = {.seed = 7}};
  load.map.type = DataType::u8;
  load.map.stride = {16, 96, 512};
  load.map.box = {16, 3, 32, 1};
  EXPECT_EQ(
      tile_of(load),
      tile_from(load,
                {{0, 96, 0}, {96, 256}, {256, 352, 16}, {352, 512}, {512, 608, 32}, {608, 768}}));
}

TEST(Interleave, ElementStridesCountAlongW) {
  TileLoad load{.map = units(), .at = {-1, 0, 0, 0}, .payload = {.seed = 7}};
  load.map.extent[0] = 16;
  load.map.stride = {256, 1280, 5120};
  load.map.box = {8, 3, 8, 1};
  load.map.element_stride = {3, 2, 1, 1, 1};
  EXPECT_EQ(
      tile_of(load),
      tile_from(load,
                {{0, 16}, {16, 32, 32}, {32, 48, 80}, {48, 64}, {64, 80, 544}, {80, 96, 592}}));
}

TEST(Interleave, RowsNarrowerThanTheSwizzleLieSideBySide) {
  TileLoad load{.map = units(), .payload = {.seed = 7}};
  load.map.extent[0] = 16;
  load.map.stride = {256, 1280, 5120};
  load.map.box = {8, 3, 16, 1};
  load.map.element_stride = {4, 1, 1, 1, 1};
  load.map.swizzle = Swizzle::b128;
  EXPECT_EQ(
      tile_of(load),
      tile_from(
          load,
          {{0, 16, 0}, {16, 32, 64}, {32, 48, 256}, {48, 64, 320}, {64, 80, 512}, {80, 96, 576}}));
}

TEST(Interleave, HalvesOfUnitsOf32BytesAreSwizzled) {
  TileLoad load{.map = units(), .payload = {.seed = 7}};
  load.map.type = DataType::u32;
  load.map.stride = {192, 1024, 4096};
  load.map.box = {4, 2, 16, 1};
  load.map.interleave = Interleave::b32;
  load.map.swizzle = Swizzle::b32;
  EXPECT_EQ(tile_of(load), tile_from(load, {{0, 128, 0},
                                            {128, 144, 208},
                                            {144, 160, 192},
                                            {160, 176, 240},
                                            {176, 192, 224},
                                            {192, 208, 272},
                                            {208, 224, 256},
                                            {224, 240, 304},
                                            {240, 256, 288}}));
}

TEST(Interleave, WholeUnitsOutsideAreOneNanPattern) {
  TileLoad load{.map = units(), .at = {0, 0, 4, 0}, .payload = {.seed = 7}};  // four slices
  load.map.type = DataType::f16;
  load.map.fill = Fill::nan;
  const Bytes tile = tile_of(load);
  ASSERT_EQ(tile.size(), 256U);
  for (std::size_t i = 0; i < tile.size(); i += 2) {
    EXPECT_EQ(tile[i], 0xf7);
    EXPECT_EQ(tile[i + 1], 0x7f);
  }
}

// The bytes of the box as they are in shared memory, to these places; all others stay.
Bytes stored(const TileStore& store, const std::vector<Piece>& pieces, std::size_t bytes) {
  Bytes left(bytes);
  for (std::size_t i = 0; i < bytes; ++i) left[i] = poison_byte(store.payload, i);
  for (const Piece& piece : pieces)
    for (std::uint64_t i = piece.begin; i < piece.end; ++i)
      left[kGuardBytes + i] = source_byte(
          store.payload, kGuardBytes + static_cast<std::uint64_t>(piece.from) + i - piece.begin);
  return left;
}

TEST(Interleave, AStoreWritesTheUnitsOfOneSliceAndNothingElse) {
  const TileStore store{.map = units(), .at = {0, 0, 1, 0}, .payload = {.seed = 7}};
  const Bytes left = left_by(store);
  EXPECT_EQ(left, stored(store, {{512, 608, 0}, {608, 704, 128}}, left.size()));
}

TEST(Interleave, AStoreIsClippedAtTheLastRow) {
  const TileStore store{.map = units(), .at = {0, 4, 2, 0}, .payload = {.seed = 7}};
  const Bytes left = left_by(store);
  EXPECT_EQ(left, stored(store, {{1408, 1504, 0}}, left.size()));
}

TEST(Interleave, AStoreTakesItsSecondRowSwizzled) {
  TileStore store{.map = units(), .payload = {.seed = 7}};
  store.map.swizzle = Swizzle::b128;
  const Bytes left = left_by(store);
  EXPECT_EQ(left, stored(store,
                         {{0, 96, 0},
                          {96, 112, 144},
                          {112, 128, 128},
                          {128, 144, 176},
                          {144, 160, 160},
                          {160, 176, 208},
                          {176, 192, 192}},
                         left.size()));
}

// What shows each fault: units of both sizes, an element stride along W, narrow rows, a slice.
std::vector<TensorMapSpec> maps() {
  TensorMapSpec strided = units(), narrow = units(), halves = units();
  strided.element_stride[0] = 2;
  narrow.type = DataType::u64;
  narrow.box[0] = 2;
  narrow.swizzle = Swizzle::b128;
  halves.interleave = Interleave::b32;
  halves.stride = {192, 1024, 4096};
  halves.swizzle = Swizzle::b32;
  return {units(), strided, narrow, halves};
}

std::vector<RunResult> results_of(OpKind op, Fault fault) {
  std::vector<RunResult> results;
  for (const TensorMapSpec& map : maps()) {
    const TileLoad load{.map = map, .at = {0, 1, 1, 1}, .payload = {.seed = 7}};
    const TileStore store{.map = map, .at = {0, 1, 1, 1}, .payload = {.seed = 7}};
    results.push_back(
        run_virtual_program(op == OpKind::tile_load ? program_of(load) : program_of(store), fault));
  }
  return results;
}

bool equal(const std::vector<RunResult>& one, const std::vector<RunResult>& other) {
  return std::equal(one.begin(), one.end(), other.begin(), [](const auto& a, const auto& b) {
    return a.bytes == b.bytes && a.surroundings == b.surroundings && a.trace == b.trace;
  });
}

TEST(InterleaveFaults, EachShowsAndNoTwoDoTheSame) {
  const auto faults = interleave_faults();
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const auto broken = results_of(faults[i].op, faults[i].fault);
    EXPECT_FALSE(equal(broken, results_of(faults[i].op, kNoFault))) << faults[i].name;
    for (std::size_t j = i + 1; j < faults.size() && faults[j].op == faults[i].op; ++j)
      EXPECT_FALSE(equal(broken, results_of(faults[j].op, faults[j].fault))) << faults[j].name;
  }
}

TEST(InterleaveFaults, NoneShowsInATileOfElements) {
  TensorMapSpec plain = units();
  plain.interleave = Interleave::none;
  plain.extent[0] = 48;
  const TileLoad load{.map = plain, .payload = {}};
  for (const FaultInfo& info : interleave_faults())
    EXPECT_EQ(tile_of(load, info.fault), tile_of(load)) << info.name;
}

}  // namespace
}  // namespace tidemark
