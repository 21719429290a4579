// The oracle of consumed tiles on products small enough to work out by hand, and its comparator,
// which must complain about each wrong bit and about a product that should not be there.
#include <gtest/gtest.h>

#include <cstring>

#include "kernels/error.hpp"
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

TEST(TileConsumeOracle, DoesNotLookAtTheDescriptors) {
  TileConsume op = small();
  op.a.read_as = Swizzle::b128;
  op.b.destination_offset = 256;
  EXPECT_EQ(predict(op).bytes, predict(small()).bytes);
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

TEST(TileConsumeCompare, ComplainsAboutAProductInSpiteOfAMismatch) {
  TileConsume op = small();
  op.a.read_as = Swizzle::b64;
  const Expectation expected = predict(op);
  const auto found = compare(op, expected, right_result(expected), 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "C");
}

TEST(TileConsumeCompare, AMismatchMayGiveAnythingElseButKeepsItsGuards) {
  TileConsume op = small();
  op.b.base_offset = 1;
  const Expectation expected = predict(op);
  RunResult result = right_result(expected);
  result.bytes[2000] ^= 1;
  EXPECT_TRUE(compare(op, expected, result, 0).empty());
  result.bytes[3072] ^= 1;
  EXPECT_EQ(compare(op, expected, result, 0).size(), 1U);
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
