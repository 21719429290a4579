// Predicted bank conflicts of the layouts whose answer is known by hand.
#include "kernels/ops/tile_read.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

// 16 rows of two groups of `inner` bytes.
TileRead read_of(std::uint32_t inner, Swizzle swizzle, TilePlacement placement) {
  TileRead read;
  read.load.map = {.type = DataType::u8, .rank = 3, .box = {inner, 16, 2}, .swizzle = swizzle};
  read.placement = placement;
  return read;
}

TEST(PredictedWavefronts, EightRowsOfPlain128BytesShareOneGroupOfBanks) {
  EXPECT_EQ(predicted_wavefronts(read_of(128, Swizzle::none, TilePlacement::as_loaded)), 32U);
}

TEST(PredictedWavefronts, EightRowsOfPlain32BytesShareTwoToABank) {
  EXPECT_EQ(predicted_wavefronts(read_of(32, Swizzle::none, TilePlacement::as_loaded)), 8U);
}

TEST(PredictedWavefronts, EachSwizzleIsFreeOfConflictsAtItsOwnWidth) {
  EXPECT_EQ(predicted_wavefronts(read_of(32, Swizzle::b32, TilePlacement::as_loaded)), 4U);
  EXPECT_EQ(predicted_wavefronts(read_of(64, Swizzle::b64, TilePlacement::as_loaded)), 4U);
  EXPECT_EQ(predicted_wavefronts(read_of(128, Swizzle::b128, TilePlacement::as_loaded)), 4U);
}

TEST(PredictedWavefronts, SixteenBySixteenChunksConflictUntilTheyAreSplit) {
  // Rows of 256 bytes: two of eight rows take each other's place in the pattern.
  EXPECT_EQ(predicted_wavefronts(read_of(128, Swizzle::b128, TilePlacement::unsplit)), 8U);
}

TEST(ReadOffset, FollowsTheSwizzleOfTheAddress) {
  TileRead read = read_of(128, Swizzle::b128, TilePlacement::as_loaded);
  read.first_column = 2;
  EXPECT_EQ(read_offset(read, 3), 3U * 128 + (2 ^ 3) * 16);
  read.load.destination_offset = 128;
  EXPECT_EQ(read_offset(read, 3), 4U * 128 + (2 ^ 4) * 16);
}

TEST(ReadOffset, GoesToTheNextGroupBehindTheLastRow) {
  TileRead read = read_of(64, Swizzle::none, TilePlacement::as_loaded);
  read.first_column = 4;
  EXPECT_EQ(read_offset(read, 1), (16U + 1) * 64);
}

}  // namespace
}  // namespace tidemark
