// What a warp reads, predicted and compared, on a tile small enough to follow by hand.
#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark::suite {
namespace {

// 8 rows of 4 groups of 32 bytes, groups side by side in rows of 144 bytes.
TileRead small_read() {
  TileRead read;
  read.load.map = {.type = DataType::u16,
                   .rank = 3,
                   .extent = {16, 8, 4},
                   .stride = {144, 32},
                   .box = {16, 8, 4},
                   .swizzle = Swizzle::b32};
  read.load.payload.seed = 4;
  return read;
}

RunResult right_result(const Expectation& expected) {
  RunResult result;
  result.bytes = expected.bytes;
  result.surroundings = expected.surroundings;
  result.ledger = expected.ledger;
  return result;
}

TEST(TileReadOracle, LaneNineReadsRowOneOfTheNextColumn) {
  const TileRead read = small_read();
  const Expectation expected = predict(read);
  ASSERT_EQ(expected.bytes.size(), 512U);
  EXPECT_EQ(expected.bytes[9 * 16 + 3], source_byte(read.load.payload, 1024 + 144 + 16 + 3));
}

TEST(TileReadOracle, ColumnsGoOnInTheNextGroup) {
  TileRead read = small_read();
  read.first_column = 4;
  EXPECT_EQ(predict(read).bytes[0], source_byte(read.load.payload, 1024 + 64));
}

TEST(TileReadOracle, RowsOutsideTheTensorAreZero) {
  TileRead read = small_read();
  read.load.at = {0, 7, 0};
  const Expectation expected = predict(read);
  EXPECT_EQ(expected.bytes[16], 0);
  EXPECT_EQ(expected.bytes[0], source_byte(read.load.payload, 1024 + 7 * 144));
}

TEST(TileReadOracle, RefusesNanFill) {
  TileRead read = small_read();
  read.load.map.type = DataType::f16;
  read.load.map.fill = Fill::nan;
  EXPECT_THROW(predict(read), Error);
}

TEST(TileReadCompare, NamesLaneRowAndColumnOfAWrongByte) {
  const TileRead read = small_read();
  const Expectation expected = predict(read);
  RunResult result = right_result(expected);
  result.bytes[9 * 16 + 3] ^= 0x10;
  const auto found = compare(read, expected, result, 2);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("lane 9 (row 1, column 1), byte 3"), std::string::npos)
      << found[0].text;
  EXPECT_EQ(found[0].first_offset, 147U);
}

TEST(TileReadCompare, NoticesLanesThatAreMissing) {
  const TileRead read = small_read();
  const Expectation expected = predict(read);
  RunResult result = right_result(expected);
  result.bytes.resize(496);
  EXPECT_EQ(compare(read, expected, result, 0).size(), 1U);
}

TEST(TileReadCompare, NoticesAChangedSource) {
  const TileRead read = small_read();
  const Expectation expected = predict(read);
  RunResult result = right_result(expected);
  result.surroundings[1030] ^= 1;
  const auto found = compare(read, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "source");
}

TEST(TileReadCompare, NoticesAPhaseThatDidNotComplete) {
  const TileRead read = small_read();
  const Expectation expected = predict(read);
  RunResult result = right_result(expected);
  result.ledger.complete = false;
  EXPECT_EQ(compare(read, expected, result, 0).size(), 1U);
}

}  // namespace
}  // namespace tidemark::suite
