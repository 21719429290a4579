// Sizes that follow from a tensor map.
#include "kernels/ops/tensor_map.hpp"

#include <gtest/gtest.h>

#include "kernels/ops/tile_load.hpp"

namespace tidemark {
namespace {

TEST(TensorMap, ElementSizesFollowTheDriversTypes) {
  EXPECT_EQ(element_bytes(DataType::u8), 1U);
  EXPECT_EQ(element_bytes(DataType::bf16), 2U);
  EXPECT_EQ(element_bytes(DataType::tf32_ftz), 4U);
  EXPECT_EQ(element_bytes(DataType::f64), 8U);
}

TEST(TensorMap, TileExtentRoundsUpAndIgnoresTheInnerElementStride) {
  const TensorMapSpec map{.rank = 2, .box = {32, 64}, .element_stride = {2, 3, 1, 1, 1}};
  EXPECT_EQ(tile_extent(map, 0), 32U);
  EXPECT_EQ(tile_extent(map, 1), 22U);
}

// The driver refuses such a map; a device that asks for its sizes before may not crash over it.
TEST(TensorMap, ElementStrideOfZeroTakesNothing) {
  const TensorMapSpec map{.rank = 2, .box = {32, 64}, .element_stride = {1, 0, 1, 1, 1}};
  EXPECT_EQ(tile_bytes(map), 0U);
  EXPECT_EQ(tile_span(map), 0U);
}

TEST(TensorMap, TileBytesCountOnlyTheRank) {
  const TensorMapSpec map{.type = DataType::f32, .rank = 2, .box = {8, 3, 99, 99, 99}};
  EXPECT_EQ(tile_bytes(map), 96U);
}

TEST(TensorMap, RowsNarrowerThanTheSwizzleLieItsWidthApart) {
  TensorMapSpec map{.type = DataType::u16, .rank = 2, .box = {24, 5}, .swizzle = Swizzle::b128};
  EXPECT_EQ(row_pitch(map), 128U);
  EXPECT_EQ(tile_span(map), 640U);
  EXPECT_EQ(tile_bytes(map), 240U);
  map.swizzle = Swizzle::none;
  EXPECT_EQ(row_pitch(map), 48U);
  EXPECT_EQ(tile_span(map), 240U);
}

TEST(TensorMap, TensorBytesEndWithTheLastElement) {
  const TensorMapSpec map{
      .type = DataType::u16, .rank = 3, .extent = {5, 4, 3}, .stride = {16, 64}};
  EXPECT_EQ(tensor_bytes(map), 2U * 64 + 3 * 16 + 5 * 2);
}

TEST(TensorMap, TileBytesDoNotWrap) {
  TensorMapSpec map{.type = DataType::u64, .rank = 5, .box = {256, 256, 256, 256, 256}};
  EXPECT_EQ(tile_bytes(map), 0xffffffffU);  // 2^43
  map.box = {256, 256, 256, 128, 1};
  EXPECT_EQ(tile_bytes(map), 0xffffffffU);  // 2^34
  map.box = {256, 256, 256, 31, 1};
  map.type = DataType::u32;
  EXPECT_EQ(tile_bytes(map), 4U * 256 * 256 * 256 * 31);  // the last that fits
}

TEST(TensorMap, TensorBytesDoNotWrap) {
  TensorMapSpec map{.rank = 5,
                    .extent = {1, 1ULL << 32, 1ULL << 32, 1, 1},
                    .stride = {1ULL << 39, 1ULL << 39, 16, 16}};
  EXPECT_EQ(tensor_bytes(map), 1ULL << 62);
  map.rank = 1;
  map.extent[0] = 0;  // no tensor at all, refused elsewhere
  map.type = DataType::u64;
  EXPECT_EQ(tensor_bytes(map), 1ULL << 62);
}

TEST(TensorMap, PixelsOfIm2colAreTheRowsOfTheTileWhateverTheTraversalStrides) {
  const TensorMapSpec map{.type = DataType::u16,
                          .rank = 5,
                          .box = {24, 1024, 9, 9, 9},
                          .element_stride = {1, 2, 3, 4, 1},
                          .im2col = true};
  EXPECT_EQ(tile_extent(map, 1), 1024U);
  EXPECT_EQ(tile_bytes(map), 2U * 24 * 1024);
  EXPECT_EQ(tile_span(map), 2U * 24 * 1024);
}

TEST(TensorMap, InterleavedMapsCountUnitsAndHaveOneSlice) {
  TensorMapSpec map{.type = DataType::u16,
                    .rank = 4,
                    .extent = {6, 5, 4, 3},
                    .stride = {96, 512, 2048},
                    .box = {8, 3, 16, 2},
                    .element_stride = {3, 2, 8, 1, 1},
                    .interleave = Interleave::b16,
                    .swizzle = Swizzle::b128};
  EXPECT_EQ(unit_bytes(map), 16U);
  EXPECT_EQ(tile_extent(map, 0), 3U);
  EXPECT_EQ(tile_extent(map, 1), 2U);
  EXPECT_EQ(tile_extent(map, 2), 1U);
  EXPECT_EQ(tile_bytes(map), 16U * 3 * 2 * 2);
  EXPECT_EQ(row_pitch(map), 48U);  // not the 128 of the swizzle
  EXPECT_EQ(tile_span(map), 16U * 3 * 2 * 2);
  EXPECT_EQ(tensor_bytes(map), 6U * 16 + 4 * 96 + 3 * 512 + 2 * 2048);
  map.interleave = Interleave::b32;
  EXPECT_EQ(tile_bytes(map), 32U * 3 * 2 * 2);
}

TEST(TensorMap, CornersAndOffsetsOfIm2colShareSixteenBits) {
  EXPECT_EQ(lowest_corner(3), -32768);
  EXPECT_EQ(highest_corner(4), 127);
  EXPECT_EQ(lowest_corner(5), -16);
  EXPECT_EQ(highest_offset(3), 65535U);
  EXPECT_EQ(highest_offset(4), 255U);
  EXPECT_EQ(highest_offset(5), 31U);
}

TEST(TileLoad, WindowBytesDoNotWrap) {
  const TileLoad load{.map = {.type = DataType::u64, .rank = 5, .box = {256, 256, 256, 256, 256}},
                      .payload = {}};
  EXPECT_EQ(window_bytes(load), 0xffffffffU);
}

TEST(TileLoad, WindowHasGuardsOnBothSidesOfTheTile) {
  const TileLoad load{.map = {.rank = 1, .box = {48}}, .destination_offset = 256, .payload = {}};
  EXPECT_EQ(window_bytes(load), 1024U + 256 + 48 + 1024);
}

TEST(TileLoad, SourceAllocationHasGuardsOnBothSidesOfTheTensor) {
  const TileLoad load{.map = {.rank = 1, .extent = {40}, .base_offset = 16}, .payload = {}};
  EXPECT_EQ(source_allocation_bytes(load), 1024U + 16 + 40 + 8 + 1024);
}

}  // namespace
}  // namespace tidemark
