// Sizes that follow from a tensor map.
#include "kernels/ops/tensor_map.hpp"

#include <fmt/format.h>
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

// Each documented rule of cuTensorMapEncodeTiled, broken alone from a map that is accepted.

// The words by which a rule refuses; the other rules must not speak first.
void expect_refused(const TensorMapSpec& map, const std::string& words) {
  EXPECT_NE(refusal_of(map).find(words), std::string::npos)
      << "said: '" << refusal_of(map) << "', expected: '" << words << "'";
}

TensorMapSpec accepted() {
  return {.type = DataType::f32, .rank = 2, .extent = {64, 64}, .stride = {256}, .box = {32, 32}};
}

TEST(TensorMapRules, PlainMapIsAccepted) { EXPECT_EQ(refusal_of(accepted()), ""); }

TEST(TensorMapRules, RankIs1To5) {
  TensorMapSpec map = accepted();
  map.rank = 0;
  expect_refused(map, "rank 0");
  map.rank = 6;
  expect_refused(map, "rank 6");
}

TEST(TensorMapRules, AddressIsOn16Bytes) {
  TensorMapSpec map = accepted();
  map.base_offset = 8;
  expect_refused(map, "base_offset 8; cuTensorMapEncode takes multiples of 16");
}

TEST(TensorMapRules, ExtentIsNotZero) {
  TensorMapSpec map = accepted();
  map.extent[1] = 0;
  expect_refused(map, "extent 0 of dimension 1; cuTensorMapEncode takes 1 to 2^32");
}

TEST(TensorMapRules, ExtentReaches2To32AndNotBeyond) {
  TensorMapSpec map = accepted();
  map.extent[1] = std::uint64_t{1} << 32;
  EXPECT_EQ(refusal_of(map), "");
  map.extent[1] += 1;
  expect_refused(map, "extent 4294967297 of dimension 1");
}

TEST(TensorMapRules, StrideIsAMultipleOf16) {
  TensorMapSpec map = accepted();
  map.stride[0] = 264;
  expect_refused(map,
                 "stride 264 of dimension 1; cuTensorMapEncode takes multiples of 16 below 2^40");
}

TEST(TensorMapRules, StrideIsBelow2To40) {
  TensorMapSpec map = accepted();
  map.stride[0] = (std::uint64_t{1} << 40) - 16;
  EXPECT_EQ(refusal_of(map), "");
  map.stride[0] += 16;
  expect_refused(map, "stride 1099511627776 of dimension 1");
}

TEST(TensorMapRules, StridesPastTheRankDoNotCount) {
  TensorMapSpec map = accepted();
  map.stride[1] = 1;
  EXPECT_EQ(refusal_of(map), "");
}

TEST(TensorMapRules, BoxIs1To256) {
  TensorMapSpec map = accepted();
  map.box[1] = 0;
  expect_refused(map, "box 0 of dimension 1");
  map.box[1] = 256;
  EXPECT_EQ(refusal_of(map), "");
  map.box[1] = 257;
  expect_refused(map, "box 257 of dimension 1; cuTensorMapEncode takes 1 to 256");
}

TEST(TensorMapRules, InnerBoxRowIsAMultipleOf16Bytes) {
  TensorMapSpec map = accepted();
  map.box[0] = 5;
  expect_refused(map, "inner box row of 20 bytes");
}

TEST(TensorMapRules, ElementStrideIs1To8) {
  TensorMapSpec map = accepted();
  map.element_stride[1] = 0;
  expect_refused(map, "element stride 0 of dimension 1");
  map.element_stride[1] = 8;
  EXPECT_EQ(refusal_of(map), "");
  map.element_stride[1] = 9;
  expect_refused(map, "element stride 9 of dimension 1");
}

TEST(TensorMapRules, InnerElementStrideIs1To8Too) {
  TensorMapSpec map = accepted();
  map.element_stride[0] = 0;
  expect_refused(map, "element stride 0 of dimension 0");
  map.element_stride[0] = 8;
  EXPECT_EQ(refusal_of(map), "");
  map.element_stride[0] = 9;
  expect_refused(map, "element stride 9 of dimension 0");
}

TEST(TensorMapRules, InnerBoxRowFitsTheSwizzle) {
  TensorMapSpec map = accepted();
  map.swizzle = Swizzle::b64;
  map.box[0] = 16;
  EXPECT_EQ(refusal_of(map), "");
  map.box[0] = 20;
  expect_refused(map, "at most its swizzle's 64");
}

TEST(TensorMapRules, NanFillIsForFloatingTypes) {
  TensorMapSpec map = accepted();
  map.fill = Fill::nan;
  EXPECT_EQ(refusal_of(map), "");
  map.type = DataType::s32;
  expect_refused(map, "NaN fill of s32");
}

TensorMapSpec accepted_im2col() {
  return {.type = DataType::f16,
          .rank = 4,
          .extent = {64, 9, 14, 8},
          .stride = {128, 1152, 16128},
          .box = {64, 64},
          .swizzle = Swizzle::b128,
          .im2col = true,
          .lower_corner = {-1, -1},
          .upper_corner = {-1, -1}};
}

TEST(TensorMapRules, PlainIm2colMapIsAccepted) { EXPECT_EQ(refusal_of(accepted_im2col()), ""); }

TEST(TensorMapRules, RankOfIm2colIs3To5) {
  TensorMapSpec map = accepted_im2col();
  for (const std::uint32_t rank : {0U, 2U, 6U}) {
    map.rank = rank;
    expect_refused(map, "; cuTensorMapEncode takes 3 to 5 with interleave or im2col");
  }
}

TEST(TensorMapRules, CornersReachAsFarAsTheirRankLets) {
  for (const std::uint32_t rank : {3U, 4U, 5U}) {
    TensorMapSpec map = accepted_im2col();
    map.rank = rank;
    map.extent = {64, 40'000, 40'000, 40'000, 8};
    map.stride = {128, 128, 128, 128};
    map.lower_corner[0] = lowest_corner(rank);
    map.upper_corner[0] = highest_corner(rank);
    EXPECT_EQ(refusal_of(map), "");
    TensorMapSpec lower = map, upper = map;
    lower.lower_corner[0] -= 1;
    expect_refused(lower, fmt::format("corner {} of dimension 1;", lowest_corner(rank) - 1));
    upper.upper_corner[0] += 1;
    expect_refused(upper, fmt::format("corner {} of dimension 1;", highest_corner(rank) + 1));
  }
}

TEST(TensorMapRules, BoundingBoxHasAPixel) {
  TensorMapSpec map = accepted_im2col();
  map.lower_corner[1] = 5;
  map.upper_corner[1] = -8;
  EXPECT_EQ(refusal_of(map), "");  // one row of them
  map.upper_corner[1] = -9;
  expect_refused(map, "a bounding box from 5 to -9 along dimension 2;");
}

TEST(TensorMapRules, ChannelsAndPixelsOfIm2colHaveBounds) {
  TensorMapSpec map = accepted_im2col();
  map.box[1] = 1024;
  EXPECT_EQ(refusal_of(map), "");
  map.box[1] = 1025;
  expect_refused(map, "1025 pixels per column");
  map = accepted_im2col();
  map.swizzle = Swizzle::none;
  map.box[0] = 256;
  EXPECT_EQ(refusal_of(map), "");
  map.box[0] = 257;
  expect_refused(map, "257 channels per pixel");
}

TEST(TensorMapRules, PixelsOfIm2colFitTheSwizzle) {
  TensorMapSpec map = accepted_im2col();
  map.box[0] = 72;
  expect_refused(map, "at most its swizzle's 128");
}

TensorMapSpec accepted_interleave() {
  return {.type = DataType::u16,
          .rank = 3,
          .extent = {6, 4, 3},
          .stride = {96, 512},
          .box = {8, 2, 1},
          .interleave = Interleave::b16};
}

TEST(TensorMapRules, InterleavedMapsHaveRank3To5) {
  TensorMapSpec map = accepted_interleave();
  EXPECT_EQ(refusal_of(map), "");
  map.rank = 2;
  expect_refused(map, "rank 2; cuTensorMapEncode takes 3 to 5");
}

TEST(TensorMapRules, InterleavedMapsAreNoIm2colMaps) {
  TensorMapSpec map = accepted_im2col();
  map.interleave = Interleave::b16;
  expect_refused(map, "an im2col map that is interleaved");
}

TEST(TensorMapRules, RowsOfUnitsMayBeWiderThanTheSwizzle) {
  TensorMapSpec map = accepted_interleave();
  map.box[0] = 128;
  map.swizzle = Swizzle::b128;
  EXPECT_EQ(refusal_of(map), "");
}

// As the driver does, although box[0] counts units.
TEST(TensorMapRules, BoxOfAnInterleavedMapIsAMultipleOf16AsIfItWereElements) {
  TensorMapSpec map = accepted_interleave();
  map.box[0] = 4;
  expect_refused(map, "an inner box row of 8 bytes");
  map.box[0] = 12;
  expect_refused(map, "an inner box row of 24 bytes");
}

TEST(TensorMapRules, UnitsOf32BytesHaveTheSwizzleOf32AndLieOn32) {
  TensorMapSpec map = accepted_interleave();
  map.interleave = Interleave::b32;
  map.stride = {192, 1024};
  expect_refused(map, "a swizzle of 0;");
  map.swizzle = Swizzle::b32;
  EXPECT_EQ(refusal_of(map), "");
  map.base_offset = 16;
  expect_refused(map, "base_offset 16; cuTensorMapEncode takes multiples of 32");
  map.base_offset = 32;
  map.stride[1] = 1040;
  expect_refused(map, "stride 1040 of dimension 2; cuTensorMapEncode takes multiples of 32");
}

TEST(TensorMapRules, BoxMayExceedTheTensor) {
  TensorMapSpec map = accepted();
  map.extent = {8, 8};
  EXPECT_EQ(refusal_of(map), "");
}

}  // namespace

}  // namespace tidemark
