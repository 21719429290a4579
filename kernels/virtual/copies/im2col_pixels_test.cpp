// Im2col loads on the virtual device against pixels that are written out, and what each of their
// faults changes.
#include "kernels/virtual/copies/tile_chunks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/ops/tile_store.hpp"
#include "kernels/virtual/copies/map_faults.hpp"
#include "kernels/virtual/copies/tile_load_faults.hpp"
#include "kernels/virtual/program/program.hpp"

namespace tidemark {
namespace {

// Three images of 4 x 3 pixels of 16 bytes, padded by a pixel in front of W and H.
TileLoad images() {
  return {.map = {.rank = 4,
                  .extent = {16, 4, 3, 3},
                  .stride = {32, 128, 384},
                  .box = {16, 14},
                  .im2col = true,
                  .lower_corner = {-1, -1},
                  .upper_corner = {-1, -1}},
          .at = {0, 1, 0, 1},
          .im2col_offsets = {1, 2},
          .payload = {.seed = 3}};
}

// W, H and N of a pixel.
using Pixel = std::array<std::int64_t, 3>;

std::vector<Pixel> pixels_of(const TileLoad& load, Fault fault = kNoFault) {
  std::vector<Pixel> pixels;
  for (const auto& pixel : im2col_pixels(load, tile_geometry(load, 0, fault)))
    pixels.push_back({pixel[1], pixel[2], pixel[3]});
  return pixels;
}

// The box is -1..2 along W and -1..1 along H; offsets are added to what the walk comes by.
TEST(Im2colPixels, CarryFromWToHToTheBatch) {
  EXPECT_EQ(pixels_of(images()), (std::vector<Pixel>{{2, 2, 1},
                                                     {3, 2, 1},
                                                     {0, 3, 1},
                                                     {1, 3, 1},
                                                     {2, 3, 1},
                                                     {3, 3, 1},
                                                     {0, 1, 2},
                                                     {1, 1, 2},
                                                     {2, 1, 2},
                                                     {3, 1, 2},
                                                     {0, 2, 2},
                                                     {1, 2, 2},
                                                     {2, 2, 2},
                                                     {3, 2, 2}}));
}

TEST(Im2colPixels, TraversalStridesStayInTheBoxAndCountAsManyPixels) {
  TileLoad load = images();
  load.map.element_stride = {1, 2, 3, 1, 1};
  load.map.box[1] = 5;
  load.at = {0, -1, -1, 0};
  load.im2col_offsets = {};
  EXPECT_EQ(pixels_of(load),
            (std::vector<Pixel>{{-1, -1, 0}, {1, -1, 0}, {-1, -1, 1}, {1, -1, 1}, {-1, -1, 2}}));
}

std::vector<std::uint8_t> tile_of(const TileLoad& load, Fault fault = kNoFault) {
  const RunResult result = run_virtual_program(program_of(load), fault);
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
  return {result.bytes.begin() + kGuardBytes,
          result.bytes.begin() + kGuardBytes + tile_bytes(load.map)};
}

std::uint8_t byte_of(const TileLoad& load, std::uint64_t offset) {
  return source_byte(load.payload, kGuardBytes + offset);
}

TEST(Im2colPixels, OutsideOfTheImageIsFillAndInsideIsThePixel) {
  const std::vector<std::uint8_t> tile = tile_of(images());
  for (std::uint32_t i = 0; i < 16; ++i) {
    EXPECT_EQ(tile[i], byte_of(images(), 384 + 2 * 128 + 2 * 32 + i));            // {2, 2, 1}
    EXPECT_EQ(tile[2 * 16 + i], 0);                                               // {0, 3, 1}
    EXPECT_EQ(tile[6 * 16 + i], byte_of(images(), 2 * 384 + 128 + i));            // {0, 1, 2}
    EXPECT_EQ(tile[13 * 16 + i], byte_of(images(), 2 * 384 + 2 * 128 + 96 + i));  // {3, 2, 2}
  }
}

TEST(Im2colPixels, BehindTheLastImageIsFill) {
  TileLoad load = images();
  load.at[3] = 2;
  load.im2col_offsets = {1, 1};
  const std::vector<std::uint8_t> tile = tile_of(load);
  EXPECT_NE(std::count(tile.begin(), tile.begin() + 6 * 16, 0), 6 * 16);
  EXPECT_EQ(std::count(tile.begin() + 6 * 16, tile.end(), 0), 8 * 16);
}

// What shows each fault: images of another channel count, corners, strides and offsets.
std::vector<TileLoad> loads() {
  TileLoad strided = images(), channels = images(), far = images(), cornered = images();
  strided.map.element_stride = {1, 2, 2, 1, 1};
  strided.at = {0, -1, -1, 0};
  channels.map.extent[0] = 9;
  channels.map.upper_corner = {-2, -2};
  far.map.lower_corner = {-128, -128};
  far.at = {0, -128, -128, 0};
  far.im2col_offsets = {129, 130};
  cornered.map.lower_corner = {-1, 0};
  return {images(), strided, channels, far, cornered};
}

// A box inside of its images, that ends behind the last of them.
TileStore inner_store(std::int32_t image) {
  TileLoad load = images();
  load.map.lower_corner = {1, 1};
  load.map.upper_corner = {-1, -1};
  load.map.box[1] = 4;
  return {.map = load.map, .at = {0, 2, 1, image}, .payload = {.seed = 3}};
}

TEST(Im2colStore, WritesThePixelsOfItsBoxOneAfterTheOther) {
  const TileStore store = inner_store(1);
  const RunResult result = run_virtual_program(program_of(store), kNoFault);
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  std::size_t written = 0;
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    written += result.surroundings[i] != poison_byte(store.payload, i) ? 1 : 0;
  EXPECT_LE(written, 48U);  // {2, 1, 1}, {1, 1, 2}, {2, 1, 2}; the fourth is no pixel
  const std::uint64_t first = kGuardBytes + 384 + 128 + 2 * 32, next = kGuardBytes + 768 + 128 + 32;
  for (std::uint64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(result.surroundings[first + i], source_byte(store.payload, kGuardBytes + i));
    EXPECT_EQ(result.surroundings[next + i], source_byte(store.payload, kGuardBytes + 16 + i));
    EXPECT_EQ(result.surroundings[next + 32 + i], source_byte(store.payload, kGuardBytes + 32 + i));
  }
}

std::vector<FaultInfo> faults_of(OpKind op) {
  std::vector<FaultInfo> list;
  for (const FaultInfo& info : im2col_faults())
    if (info.op == op) list.push_back(info);
  return list;
}

TEST(Im2colFaults, EachOfStoresShowsAndNoTwoDoTheSame) {
  const auto left_by = [](Fault fault) {
    std::vector<std::uint8_t> left;
    for (const std::int32_t image : {0, 1, 2}) {
      TileStore store = inner_store(image);
      store.map.upper_corner[1] = 0;
      store.map.box[1] = 8;
      const RunResult result = run_virtual_program(program_of(store), fault);
      left.insert(left.end(), result.surroundings.begin(), result.surroundings.end());
    }
    return left;
  };
  const auto faults = faults_of(OpKind::tile_store);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    EXPECT_NE(left_by(faults[i].fault), left_by(kNoFault)) << faults[i].name;
    for (std::size_t j = i + 1; j < faults.size(); ++j)
      EXPECT_NE(left_by(faults[i].fault), left_by(faults[j].fault)) << faults[i].name;
  }
}

TEST(Im2colFaults, EachShowsInSomeLoadAndNoneInATile) {
  const TileLoad tile{.map = {.extent = {64, 8}, .stride = {64}, .box = {32, 4}}, .payload = {}};
  for (const FaultInfo& info : faults_of(OpKind::tile_load)) {
    const auto all = loads();
    EXPECT_TRUE(std::any_of(all.begin(), all.end(), [&](const TileLoad& load) {
      return tile_of(load, info.fault) != tile_of(load);
    })) << info.name;
    EXPECT_EQ(tile_of(tile, info.fault), tile_of(tile)) << info.name;
  }
}

TEST(Im2colFaults, NoTwoDoTheSameInEveryLoad) {
  const auto faults = faults_of(OpKind::tile_load);
  const auto all = loads();
  for (std::size_t i = 0; i < faults.size(); ++i)
    for (std::size_t j = i + 1; j < faults.size(); ++j)
      EXPECT_TRUE(std::any_of(all.begin(), all.end(),
                              [&](const TileLoad& load) {
                                return tile_of(load, faults[i].fault) !=
                                       tile_of(load, faults[j].fault);
                              }))
          << faults[i].name << " and " << faults[j].name;
}

TEST(Im2colFaults, ReversedCornersAreThoseOfTheOtherAxis) {
  const TileLoad cornered = loads().back();
  TileLoad reversed = cornered;
  reversed.map.lower_corner = {0, -1};
  EXPECT_EQ(tile_of(cornered, kFaultIm2colCornersReversed), tile_of(reversed));
}

}  // namespace
}  // namespace tidemark
