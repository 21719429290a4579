// The oracle of consumed tiles on products small enough to work out by hand, and its comparator,
// which must complain about each wrong bit and about a product that should not be there.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/error.hpp"
#include "suite/case.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark::suite {
namespace {

// u8, 64 x 8 x 32, A rows 64 bytes apart; B starts 5120 bytes behind A.
TileConsume small() {
  return {.type = MmaType::u8,
          .n = 8,
          .k = 32,
          .a = {.swizzle = Swizzle::b32, .read_as = Swizzle::b32},
          .b = {.swizzle = Swizzle::b32, .read_as = Swizzle::b32},
          .extent = {64, 8, 48},
          .payload = {.seed = 5}};
}

std::int32_t source(std::uint64_t offset) { return source_byte({.seed = 5}, 1024 + offset); }

std::int32_t c_at(const Expectation& expected, std::size_t element) {
  std::int32_t value = 0;
  std::memcpy(&value, &expected.bytes.at(1024 + 4 * element), 4);
  return value;
}

RunResult right_result(const Expectation& expected) {
  RunResult result;
  result.bytes = expected.bytes;
  result.surroundings = expected.surroundings;
  result.ledger = expected.ledger;
  return result;
}

TEST(TileConsumeOracle, IsTheSumOfProductsAlongK) {
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 32; ++k) sum += source(64 * 7 + k) * source(5120 + 64 * 3 + k);
  EXPECT_EQ(c_at(predict(small()), 8 * 7 + 3), sum);
}

TEST(TileConsumeOracle, StartsWhereTheTileDoes) {
  TileConsume op = small();
  op.at = {2, 1, 16};
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 32; ++k)
    sum += source(64 * (7 + 2) + 16 + k) * source(5120 + 64 * (3 + 1) + 16 + k);
  EXPECT_EQ(c_at(predict(op), 8 * 7 + 3), sum);
}

TEST(TileConsumeOracle, WhatLiesOutsideIsZero) {
  TileConsume op = small();
  op.at = {0, 6, -16};
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 16; ++k) sum += source(64 * 7 + k) * source(5120 + 64 * 7 + k);
  const Expectation expected = predict(op);
  EXPECT_EQ(c_at(expected, 8 * 7 + 1), sum);
  EXPECT_EQ(c_at(expected, 8 * 7 + 2), 0);
}

TEST(TileConsumeOracle, AnMnMajorOperandIsTransposed) {
  // f16: A is 16 rows (k) of 64, 144 bytes apart; B 16 rows of 8, 32 apart, 3328 bytes behind it.
  TileConsume op{.type = MmaType::f16,
                 .n = 8,
                 .k = 16,
                 .a = {.major = Major::mn, .swizzle = Swizzle::b128, .read_as = Swizzle::b128},
                 .b = {.major = Major::mn, .swizzle = Swizzle::none, .read_as = Swizzle::none},
                 .extent = {64, 8, 16},
                 .payload = {.seed = 5}};
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 16; ++k)
    sum += ((source(144 * k + 2 * 9) & 15) - 8) * ((source(3328 + 32 * k + 2 * 5) & 15) - 8);
  const Expectation expected = predict(op);
  float value = 0;
  std::memcpy(&value, &expected.bytes.at(1024 + 4 * (8 * 9 + 5)), 4);
  EXPECT_EQ(value, static_cast<float>(sum));
}

TEST(TileConsumeOracle, IsTheSameProductWhereverTheTileStarts) {
  TileConsume op = small();
  op.b.destination_offset = 256;
  EXPECT_EQ(predict(op).bytes, predict(small()).bytes);
}

// The sum of products of row `of_a` of A and row `of_b` of B.
std::int32_t row_times_row(std::uint64_t of_a, std::uint64_t of_b) {
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 32; ++k)
    sum += source(64 * of_a + k) * source(5120 + 64 * of_b + k);
  return sum;
}

// Rows of 32 bytes, read as if they lay 64 bytes apart and eight of them in 256.
TEST(TileConsumeOracle, AWiderSwizzleInTheDescriptorReadsOtherRows) {
  TileConsume op = small();
  op.a.read_as = Swizzle::b64;
  const Expectation expected = predict(op);
  EXPECT_EQ(c_at(expected, 8 * 0 + 3), row_times_row(0, 3));
  EXPECT_EQ(c_at(expected, 8 * 1 + 3), row_times_row(2, 3));
  // Row 2 lies 128 bytes behind the start, where both swizzles exchange its halves.
  EXPECT_EQ(c_at(expected, 8 * 2 + 3), row_times_row(4, 3));
  // Row 4 at 256: the 64-byte swizzle turns by two chunks, which the 32-byte one leaves.
  EXPECT_EQ(c_at(expected, 8 * 4 + 3), row_times_row(9, 3));
  // The second group of eight rows starts there, too.
  EXPECT_EQ(c_at(expected, 8 * 8 + 3), row_times_row(9, 3));
  // Row 63 at 7 * 256 + 7 * 64 is behind A: in the seventh row of B.
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 32; ++k)
    sum += source(5120 + 64 * 6 + k) * source(5120 + 64 * 3 + k);
  EXPECT_EQ(c_at(expected, 8 * 63 + 3), sum);
}

TEST(TileConsumeOracle, ABaseOffsetOfOneRowExchangesTheHalvesOf32Bytes) {
  TileConsume op = small();
  op.a.base_offset = 1;
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 32; ++k)
    sum += source(64 * 7 + (k ^ 16)) * source(5120 + 64 * 3 + k);
  EXPECT_EQ(c_at(predict(op), 8 * 7 + 3), sum);
}

// Rows of 64 bytes whose pattern starts one row of 128 late: memory row 1 is read by row 0 of the
// pattern, as it was not written.
TEST(TileConsumeOracle, ABaseOffsetIsTakenOffTheRowOfThePattern) {
  TileConsume op = small();
  op.k = 64;
  op.extent[2] = 64;  // A rows 80 bytes apart, B 6144 bytes behind A
  op.a.swizzle = op.a.read_as = op.b.swizzle = op.b.read_as = Swizzle::b64;
  op.a.base_offset = 1;
  // Row 4 lies 256 bytes behind the start: written by row 2 of the pattern, read by row 1.
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 64; ++k)
    sum += source(80 * 4 + (k ^ 16 ^ 32)) * source(tensor_start(op, GemmOperand::b) + 80 * 3 + k);
  EXPECT_EQ(c_at(predict(op), 8 * 4 + 3), sum);
}

TEST(TileConsumeOracle, WithoutASwizzleInTheDescriptorRowsOverlap) {
  TileConsume op = small();
  op.a.read_as = Swizzle::none;
  // Rows 16 bytes apart, the second 16 bytes of K behind the first: row 1 is the second half of row
  // 0 and the first of row 1.
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 16; ++k)
    sum += source(16 + k) * source(5120 + 64 * 3 + k) +
           source(64 + k) * source(5120 + 64 * 3 + 16 + k);
  EXPECT_EQ(c_at(predict(op), 8 * 1 + 3), sum);
}

TEST(TileConsumeOracle, AnMnMajorOperandReadAnotherWayIsTransposedToo) {
  // f16: A and B are 16 rows (k) of 64, 144 bytes apart, swizzled by 128 bytes; A is read by 64.
  TileConsume op{.type = MmaType::f16,
                 .n = 64,
                 .k = 16,
                 .a = {.major = Major::mn, .swizzle = Swizzle::b128, .read_as = Swizzle::b64},
                 .b = {.major = Major::mn, .swizzle = Swizzle::b128, .read_as = Swizzle::b128},
                 .extent = {64, 64, 16},
                 .payload = {.seed = 5}};
  const auto f16 = [](std::uint64_t offset) { return (source(offset) & 15) - 8; };
  // Column 9 of A: eight rows of K lie 64 bytes apart, the next eight 1024 behind them.
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 16; ++k) {
    const std::uint64_t place = k / 8 * 1024 + k % 8 * 64 + 2 * 9, row = place / 128;
    const std::uint64_t byte = place % 128 ^ row % 4 << 4 ^ row % 8 << 4;  // as read, as written
    sum += f16(144 * row + byte) * f16(tensor_start(op, GemmOperand::b) + 144 * k + 2 * 5);
  }
  float value = 0;
  std::memcpy(&value, &predict(op).bytes.at(1024 + 4 * (64 * 9 + 5)), 4);
  EXPECT_EQ(value, static_cast<float>(sum));
}

TEST(TileConsumeOracle, RefusesADescriptorThatLeadsOutOfBothTiles) {
  TileConsume op = small();
  op.b.read_as = Swizzle::b64;
  EXPECT_THROW((void)predict(op), Error);
}

// A row that came out as the product would prove nothing.
TEST(TileConsumeOracle, NoRowThatIsReadAnotherWayIsTheProduct) {
  for (const char* name : {"consume.mismatch", "consume.base_offset"}) {
    std::uint32_t differing = 0;
    for (const Op& row : case_named(name)->rows({})) {
      TileConsume op = std::get<TileConsume>(row);
      if (reads_as_written(op)) continue;
      const Expectation expected = predict(op);
      for (ConsumedOperand* operand : {&op.a, &op.b}) {
        operand->read_as = operand->swizzle;
        operand->base_offset = 0;
      }
      EXPECT_NE(expected.bytes, predict(op).bytes) << describe(row);
      ++differing;
    }
    EXPECT_GE(differing, 30U) << name;
  }
}

TEST(TileConsumeOracle, RefusesWhatIsNotDocumented) {
  TileConsume op = small();
  op.at = {0, 0, 8};  // off 16 bytes
  EXPECT_THROW((void)predict(op), Error);
  op = small();
  op.a.base_offset = 2;  // a 32-byte pattern starts every second row
  EXPECT_THROW((void)predict(op), Error);
  op = small();
  op.a.swizzle = op.a.read_as = Swizzle::none;
  op.a.base_offset = 1;
  EXPECT_THROW((void)predict(op), Error);
  op = small();
  op.n = 24;
  EXPECT_THROW((void)predict(op), Error);
  op = small();
  op.extent[1] = 0;
  EXPECT_THROW((void)predict(op), Error);
}

TEST(TileConsumeCompare, SaysNothingWhereAllAgrees) {
  const Expectation expected = predict(small());
  EXPECT_TRUE(compare(small(), expected, right_result(expected), 0).empty());
}

TEST(TileConsumeCompare, ComplainsAboutEachByteOfTheResult) {
  const Expectation expected = predict(small());
  for (std::size_t offset = 0; offset < expected.bytes.size(); ++offset) {
    RunResult result = right_result(expected);
    result.bytes[offset] ^= 0x10;
    const auto found = compare(small(), expected, result, 3);
    ASSERT_EQ(found.size(), 1U) << offset;
    EXPECT_EQ(found[0].what, offset >= 1024 && offset < 3072 ? "C" : "guard") << offset;
    EXPECT_EQ(found[0].first_offset, offset);
    EXPECT_EQ(found[0].wrong_bytes, 1U);
    EXPECT_EQ(found[0].row, 3U);
  }
}

TEST(TileConsumeCompare, NamesTheElementOfCAndBothNumbers) {
  const Expectation expected = predict(small());
  RunResult result = right_result(expected);
  const std::int32_t wrong = -3;
  std::memcpy(&result.bytes[1024 + 4 * (8 * 7 + 2)], &wrong, 4);
  const auto found = compare(small(), expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 7);
  EXPECT_EQ(found[0].coordinate[1], 2);
  EXPECT_NE(found[0].text.find("C[7][2] of the u8 product"), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].text.find("got -3; 1 of 512"), std::string::npos) << found[0].text;
}

TEST(TileConsumeCompare, SaysWhereADescriptorHasNoEffect) {
  TileConsume op = small();
  op.a.read_as = Swizzle::b64;
  const Expectation expected = predict(op);
  const auto found = compare(op, expected, right_result(predict(small())), 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "C");
  EXPECT_NE(found[0].text.find("has no effect"), std::string::npos) << found[0].text;
}

TEST(TileConsumeCompare, AMismatchIsComparedInEachByteOfC) {
  TileConsume op = small();
  op.b.base_offset = 1;
  const Expectation expected = predict(op);
  EXPECT_TRUE(compare(op, expected, right_result(expected), 0).empty());
  for (const std::size_t offset : {1024U, 2000U, 3071U}) {
    RunResult result = right_result(expected);
    result.bytes[offset] ^= 1;
    const auto found = compare(op, expected, result, 0);
    ASSERT_EQ(found.size(), 1U) << offset;
    EXPECT_EQ(found[0].text.find("has no effect"), std::string::npos) << found[0].text;
  }
}

TEST(TileConsumeCompare, ComplainsAboutSourceLedgerAndMissingBytes) {
  const Expectation expected = predict(small());
  RunResult result = right_result(expected);
  result.surroundings[9] ^= 1;
  result.ledger.next_complete_early = true;
  result.bytes.pop_back();
  const auto found = compare(small(), expected, result, 0);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].what, "C");
  EXPECT_EQ(found[1].what, "source");
  EXPECT_EQ(found[2].what, "barrier: next_complete_early");
}

}  // namespace
}  // namespace tidemark::suite
