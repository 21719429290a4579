// Sizes, places and descriptors of a consumed tile, worked out by hand.
#include "kernels/ops/tile_consume.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

WgmmaOperand laid_out(Major major, Swizzle swizzle) {
  return {.major = major, .swizzle = swizzle, .read_as = swizzle};
}

// 64 x 32 x 128 of bf16.
TileConsume with(Major major, Swizzle swizzle) {
  return {.type = MmaType::bf16,
          .n = 32,
          .k = 128,
          .a = laid_out(major, swizzle),
          .b = laid_out(major, swizzle),
          .extent = {64, 32, 128},
          .payload = {.seed = 4}};
}

TEST(TileConsumeDescriptor, KMajorIn128ByteRowsMovesInsideASpanAndThenByABox) {
  const Wgmma op = wgmma_of(with(Major::k, Swizzle::b128));
  const MatrixDescriptor second = descriptor(op, GemmOperand::a, 1, 2048);
  EXPECT_EQ(second.start, 2048U + 32);
  EXPECT_EQ(second.leading, 16U);
  EXPECT_EQ(second.stride, 1024U);
  EXPECT_EQ(descriptor(op, GemmOperand::a, 5, 2048).start, 2048U + 64 * 128 + 32);
}

TEST(TileConsumeDescriptor, KMajorUnswizzledColumnsAreBoxes) {
  const Wgmma op = wgmma_of(with(Major::k, Swizzle::none));
  const MatrixDescriptor second = descriptor(op, GemmOperand::b, 1, 2048);
  EXPECT_EQ(second.start, 2048U + 2 * 32 * 16);
  EXPECT_EQ(second.leading, 32U * 16);
  EXPECT_EQ(second.stride, 128U);
}

TEST(TileConsumeDescriptor, MnMajorIn64ByteRowsMovesBySixteenRows) {
  const Wgmma op = wgmma_of(with(Major::mn, Swizzle::b64));
  const MatrixDescriptor second = descriptor(op, GemmOperand::a, 1, 2048);
  EXPECT_EQ(second.start, 2048U + 16 * 64);
  EXPECT_EQ(second.leading, 128U * 64);
  EXPECT_EQ(second.stride, 512U);
}

TEST(TileConsumeDescriptor, MnMajorUnswizzledExchangesTheOffsets) {
  const Wgmma op = wgmma_of(with(Major::mn, Swizzle::none));
  const MatrixDescriptor second = descriptor(op, GemmOperand::a, 1, 2048);
  EXPECT_EQ(second.start, 2048U + 16 * 16);
  EXPECT_EQ(second.leading, 128U);
  EXPECT_EQ(second.stride, 128U * 16);
}

TEST(TileConsumeDescriptor, SaysWhatTheCaseSays) {
  Wgmma op = wgmma_of(with(Major::k, Swizzle::b128));
  op.b.read_as = Swizzle::b32;
  op.b.base_offset = 5;
  EXPECT_EQ(descriptor(op, GemmOperand::b, 0, 0).swizzle, Swizzle::b32);
  EXPECT_EQ(descriptor(op, GemmOperand::b, 0, 0).base_offset, 5U);
  EXPECT_FALSE(reads_as_written(op));
  EXPECT_TRUE(reads_as_written(wgmma_of(with(Major::k, Swizzle::b128))));
}

TEST(TileConsumeBoxes, SplitARowIntoSpans) {
  TileConsume op = with(Major::k, Swizzle::b64);
  op.at = {3, 5, 16};
  ASSERT_EQ(box_count(wgmma_of(op), GemmOperand::b), 4U);
  const TileLoad load = box_load(op, GemmOperand::b, 3);
  EXPECT_EQ(load.at[0], 16 + 3 * 32);
  EXPECT_EQ(load.at[1], 5);
  EXPECT_EQ(load.map.box[0], 32U);
  EXPECT_EQ(load.map.box[1], 32U);
  EXPECT_EQ(load.map.stride[0], 128U * 2 + 16);
  EXPECT_EQ(load.destination_offset, 4U * 4096 + 3 * 2048);  // behind A's 16 KiB
}

TEST(TileConsumeWindow, StartsBOn1024AndMovesItByItsOffset) {
  TileConsume op = with(Major::k, Swizzle::b128);
  op.a.offset = 128;
  op.b.offset = 384;
  const Wgmma product = wgmma_of(op);
  EXPECT_EQ(product.a.offset, 1024U + 128);
  EXPECT_EQ(product.b.offset, 1024U + 16384 + 1024 + 384);
  EXPECT_EQ(product_offset(product), 1024U + 16384 + 1024 + 384 + 8192 + 1024);
  EXPECT_EQ(program_of(op).window, product_offset(product) + 64 * 32 * 4 + 1024);
}

TEST(TileConsumeSource, HoldsSmallIntegersThatTheInvertedPayloadNeverKeeps) {
  for (std::uint64_t index = 0; index < 1024; ++index) {
    const std::uint64_t hash = source_word({.seed = 4}, index / 2) >> (32 * (index % 2));
    const auto word = [&](bool inverted, DataType type, Numbers numbers) {
      return region_word({.seed = 4, .inverted = inverted}, type, numbers, index);
    };
    const std::uint32_t bf16 = word(false, DataType::bf16, Numbers::integers_bf16);
    const std::uint32_t flipped = word(true, DataType::bf16, Numbers::integers_bf16);
    for (const std::uint32_t bit : {0U, 16U}) {
      const auto value = static_cast<std::int32_t>(hash >> bit & 15) - 8;
      ASSERT_EQ(bf16 >> bit & 0xffffU, bits_of(MmaType::bf16, value));
      ASSERT_EQ(flipped >> bit & 0xffffU, bits_of(MmaType::bf16, -1 - value));
    }
    const std::uint32_t e4m3 = word(false, DataType::u8, Numbers::integers_e4m3);
    for (const std::uint32_t bit : {0U, 8U, 16U, 24U})
      ASSERT_EQ(e4m3 >> bit & 0xffU,
                bits_of(MmaType::e4m3, static_cast<std::int32_t>(hash >> bit & 7) - 4));
  }
}

TEST(TileConsumeShape, RefusesWhatHasNoInstructionOrNoLayout) {
  Wgmma op = wgmma_of(with(Major::k, Swizzle::b128));
  EXPECT_EQ(shape_refusal(op), "");
  op.n = 24;
  EXPECT_NE(shape_refusal(op), "");
  op = wgmma_of(with(Major::k, Swizzle::b128));
  op.k = 40;
  EXPECT_NE(shape_refusal(op), "");
  op = wgmma_of(with(Major::k, Swizzle::b128));
  op.k = 32;  // half a span
  EXPECT_NE(shape_refusal(op), "");
  op = wgmma_of(with(Major::mn, Swizzle::b128));  // 32 columns of B are half a span
  EXPECT_NE(shape_refusal(op), "");
  op = wgmma_of(with(Major::mn, Swizzle::b64));
  op.type = MmaType::s8;
  EXPECT_NE(shape_refusal(op), "");
  op = wgmma_of(with(Major::k, Swizzle::b128));
  op.a.offset = 64;
  EXPECT_NE(shape_refusal(op), "");
}

// Predicted bank conflicts of the layouts whose answer is known by hand.

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
