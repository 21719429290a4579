// Sizes, places and descriptors of a consumed tile, worked out by hand.
#include "kernels/ops/tile_consume.hpp"

#include <gtest/gtest.h>

namespace tidemark::kernels {
namespace {

ConsumedOperand laid_out(Major major, Swizzle swizzle) {
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
  const TileConsume op = with(Major::k, Swizzle::b128);
  const MatrixDescriptor second = descriptor(op, GemmOperand::a, 1, 2048);
  EXPECT_EQ(second.start, 2048U + 32);
  EXPECT_EQ(second.leading, 16U);
  EXPECT_EQ(second.stride, 1024U);
  EXPECT_EQ(descriptor(op, GemmOperand::a, 5, 2048).start, 2048U + 64 * 128 + 32);
}

TEST(TileConsumeDescriptor, KMajorUnswizzledColumnsAreBoxes) {
  const TileConsume op = with(Major::k, Swizzle::none);
  const MatrixDescriptor second = descriptor(op, GemmOperand::b, 1, 2048);
  EXPECT_EQ(second.start, 2048U + 2 * 32 * 16);
  EXPECT_EQ(second.leading, 32U * 16);
  EXPECT_EQ(second.stride, 128U);
}

TEST(TileConsumeDescriptor, MnMajorIn64ByteRowsMovesBySixteenRows) {
  const TileConsume op = with(Major::mn, Swizzle::b64);
  const MatrixDescriptor second = descriptor(op, GemmOperand::a, 1, 2048);
  EXPECT_EQ(second.start, 2048U + 16 * 64);
  EXPECT_EQ(second.leading, 128U * 64);
  EXPECT_EQ(second.stride, 512U);
}

TEST(TileConsumeDescriptor, MnMajorUnswizzledExchangesTheOffsets) {
  const TileConsume op = with(Major::mn, Swizzle::none);
  const MatrixDescriptor second = descriptor(op, GemmOperand::a, 1, 2048);
  EXPECT_EQ(second.start, 2048U + 16 * 16);
  EXPECT_EQ(second.leading, 128U);
  EXPECT_EQ(second.stride, 128U * 16);
}

TEST(TileConsumeDescriptor, SaysWhatTheCaseSays) {
  TileConsume op = with(Major::k, Swizzle::b128);
  op.b.read_as = Swizzle::b32;
  op.b.base_offset = 5;
  EXPECT_EQ(descriptor(op, GemmOperand::b, 0, 0).swizzle, Swizzle::b32);
  EXPECT_EQ(descriptor(op, GemmOperand::b, 0, 0).base_offset, 5U);
  EXPECT_FALSE(reads_as_written(op));
  EXPECT_TRUE(reads_as_written(with(Major::k, Swizzle::b128)));
}

TEST(TileConsumeBoxes, SplitARowIntoSpans) {
  TileConsume op = with(Major::k, Swizzle::b64);
  op.at = {3, 5, 16};
  ASSERT_EQ(box_count(op, GemmOperand::b), 4U);
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
  op.a.destination_offset = 128;
  op.b.destination_offset = 384;
  EXPECT_EQ(tile_offset(op, GemmOperand::a), 1024U + 128);
  EXPECT_EQ(tile_offset(op, GemmOperand::b), 1024U + 16384 + 1024 + 384);
  EXPECT_EQ(window_bytes(op), 1024U + 16384 + 1024 + 384 + 8192 + 1024);
}

TEST(TileConsumeSource, HoldsSmallIntegersThatTheInvertedPayloadNeverKeeps) {
  TileConsume op = with(Major::k, Swizzle::b128);
  TileConsume inverted = op;
  inverted.payload.inverted = true;
  for (std::uint64_t offset = 0; offset < 4096; offset += 2) {
    const std::int32_t value = integer_of(op.type, source_bits(op, offset));
    ASSERT_GE(value, -8);
    ASSERT_LE(value, 7);
    ASSERT_EQ(integer_of(op.type, source_bits(inverted, offset)), -1 - value);
  }
}

TEST(TileConsumeSource, PacksElementsIntoWords) {
  TileConsume op = with(Major::k, Swizzle::b128);
  op.type = MmaType::e4m3;
  const std::uint32_t word = source_element_word(op, 7);
  for (std::uint32_t byte = 0; byte < 4; ++byte)
    EXPECT_EQ(word >> (8 * byte) & 0xffU,
              bits_of(op.type, integer_of(op.type, source_bits(op, 28 + byte))));
}

TEST(TileConsumeShape, RefusesWhatHasNoInstructionOrNoLayout) {
  TileConsume op = with(Major::k, Swizzle::b128);
  EXPECT_EQ(shape_refusal(op), "");
  op.n = 24;
  EXPECT_NE(shape_refusal(op), "");
  op = with(Major::k, Swizzle::b128);
  op.k = 40;
  EXPECT_NE(shape_refusal(op), "");
  op = with(Major::k, Swizzle::b128);
  op.k = 32;  // half a span
  EXPECT_NE(shape_refusal(op), "");
  op = with(Major::mn, Swizzle::b128);  // 32 columns of B are half a span
  EXPECT_NE(shape_refusal(op), "");
  op = with(Major::mn, Swizzle::b64);
  op.type = MmaType::s8;
  EXPECT_NE(shape_refusal(op), "");
  op = with(Major::k, Swizzle::b128);
  op.a.destination_offset = 64;
  EXPECT_NE(shape_refusal(op), "");
}

}  // namespace
}  // namespace tidemark::kernels
