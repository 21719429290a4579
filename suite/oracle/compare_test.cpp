// The comparator must complain about one wrong bit anywhere, and must not where all agrees.
#include "suite/oracle/compare.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TileLoad small_load() {
  TileLoad load;
  load.map.type = DataType::u8;
  load.map.rank = 2;
  load.map.extent = {64, 5};
  load.map.stride = {80};
  load.map.box = {32, 3};
  load.at = {16, 1};
  load.destination_offset = 128;  // the tile is at 1152 .. 1247
  return load;
}

// A box half outside, filled with NaNs.
TileLoad nan_load(DataType type) {
  TileLoad load = small_load();
  load.map.type = type;
  load.map.extent = {16, 5};
  load.map.stride = {160};
  load.map.box = {16, 4};
  load.map.fill = Fill::nan;
  load.at = {0, 3};
  return load;
}

RunResult right_result(const Expectation& expected) {
  RunResult result;
  result.bytes = expected.bytes;
  result.surroundings = expected.surroundings;
  return result;
}

std::vector<Miscompare> compare(const TileLoad& load, const Expectation& expected,
                                const RunResult& result, std::uint32_t row) {
  std::vector<Miscompare> found;
  compare_window({&load, 1}, expected, result.bytes, row, found);
  compare_source(expected, result, row, found);
  return found;
}

TEST(Compare, SaysNothingWhereAllAgrees) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  EXPECT_TRUE(compare(load, expected, right_result(expected), 0).empty());
}

TEST(Compare, ComplainsAboutEachByteOfTheWindow) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  for (std::size_t offset = 0; offset < expected.bytes.size(); ++offset) {
    RunResult result = right_result(expected);
    result.bytes[offset] ^= 0x10;
    const auto found = compare(load, expected, result, 3);
    ASSERT_EQ(found.size(), 1U) << offset;
    EXPECT_EQ(found[0].what, offset >= 1152 && offset < 1248 ? "byte" : "guard") << offset;
    EXPECT_EQ(found[0].first_offset, offset);
    EXPECT_EQ(found[0].wrong_bytes, 1U);
    EXPECT_EQ(found[0].row, 3U);
  }
}

TEST(Compare, ComplainsAboutEachByteOfTheSource) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  for (std::size_t offset = 0; offset < expected.surroundings.size(); ++offset) {
    RunResult result = right_result(expected);
    result.surroundings[offset] ^= 1;
    const auto found = compare(load, expected, result, 0);
    ASSERT_EQ(found.size(), 1U) << offset;
    EXPECT_EQ(found[0].what, "source");
    EXPECT_EQ(found[0].first_offset, offset);
  }
}

TEST(Compare, NamesTheElementAndBothValues) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  result.bytes[1152 + 2 * 32 + 5] ^= 0xff;
  const auto found = compare(load, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 21);
  EXPECT_EQ(found[0].coordinate[1], 3);
  EXPECT_EQ(found[0].expected ^ found[0].actual, 0xffU);
  EXPECT_NE(found[0].text.find("element (21, 3) (in the tensor), byte 69 of the tile"),
            std::string::npos)
      << found[0].text;
}

TEST(Compare, CountsAllWrongBytesOfTheTileAndOfTheGuardsApart) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  for (const std::size_t offset : {7U, 1152U, 1200U, 1247U, 1248U, 1300U})
    result.bytes[offset] ^= 2;
  const auto found = compare(load, expected, result, 0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].wrong_bytes, 3U);
  EXPECT_EQ(found[1].wrong_bytes, 3U);
  EXPECT_EQ(found[1].first_offset, 7U);
}

TEST(Compare, SaysWhereStrayBytesComeFrom) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  for (std::size_t i = 0; i < 16; ++i)  // one row too early
    result.bytes[1152 + i] = expected.surroundings[1024 + 16 + i];
  const auto found = compare(load, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("stand 16 bytes into the tensor"), std::string::npos)
      << found[0].text;
}

TEST(Compare, SaysWhereNothingWasWritten) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  for (std::uint32_t i = 1152; i < 1168; ++i) result.bytes[i] = poison_byte(load.payload, i);
  const auto found = compare(load, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("still poison"), std::string::npos) << found[0].text;
}

TEST(Compare, FindsTheElementUnderASwizzle) {
  TileLoad load = small_load();
  load.map.box = {32, 4};
  load.map.swizzle = Swizzle::b32;
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  result.bytes[1152] ^= 1;  // an odd 128-byte row: its first chunk is chunk 1 of the tile
  const auto found = compare(load, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 32);
  EXPECT_EQ(found[0].coordinate[1], 1);
}

TEST(Compare, FindsWhatWasWrittenIntoAGapBehindARow) {
  TileLoad load = small_load();
  load.map.swizzle = Swizzle::b128;
  load.held_to = HeldTo::measurement;
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  result.bytes[1152 + 2] ^=
      1;  // an odd row of addresses: chunk 1 stands first, chunks 2 up are gap
  result.bytes[1152 + 64 + 2] ^= 1;
  auto found = compare(load, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].wrong_bytes, 2U);
  result.bytes[1152 + 2] ^= 1;
  found = compare(load, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("byte 66 of the tile, in the gap behind a row: expected poison"),
            std::string::npos)
      << found[0].text;
}

TEST(Compare, ComplainsAboutAShorterWindow) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  result.bytes.pop_back();
  const auto found = compare(load, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "byte");
  EXPECT_EQ(found[0].wrong_bytes, 1U);
}

TEST(Compare, ComplainsAboutNoBytesAtAll) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  result.bytes.clear();
  result.surroundings.clear();
  EXPECT_EQ(compare(load, expected, result, 0).size(), 2U);
}

TEST(Compare, ComplainsAboutALongerSource) {
  const TileLoad load = small_load();
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  result.surroundings.push_back(0);
  const auto found = compare(load, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "source");
}

// What compare says of a NaN-filled f32 element outside the tensor that holds `bits`.
std::vector<Miscompare> with_fill(std::uint32_t bits) {
  const TileLoad load = nan_load(DataType::f32);
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  for (std::size_t i = 0; i < 4; ++i)  // the last element of the tile: outside
    result.bytes[1152 + 256 - 4 + i] = static_cast<std::uint8_t>(bits >> (8 * i));
  return compare(load, expected, result, 0);
}

TEST(Compare, AcceptsAnyNanWhereANanIsDue) {
  EXPECT_TRUE(with_fill(0x7ff77ff7).empty());
  EXPECT_TRUE(with_fill(0x7fc00000).empty());
  EXPECT_TRUE(with_fill(0xff800001).empty());
}

TEST(Compare, ComplainsAboutANumberWhereANanIsDue) {
  EXPECT_EQ(with_fill(0x3f800000).size(), 1U);
  EXPECT_EQ(with_fill(0).size(), 1U);
}

TEST(Compare, ComplainsAboutInfinityWhereANanIsDue) {
  const auto found = with_fill(0x7f800000);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].wrong_bytes, 4U);
  EXPECT_NE(found[0].text.find("expected a NaN, got 0x7f800000"), std::string::npos)
      << found[0].text;
}

TEST(Compare, ComplainsAboutANanWhereANumberIsDue) {
  const TileLoad load = nan_load(DataType::f32);
  const Expectation expected = predict(load);
  RunResult result = right_result(expected);
  result.bytes[1152] ^= 1;  // inside the tensor: exact, whatever the element is
  EXPECT_EQ(compare(load, expected, result, 0).size(), 1U);
}

TEST(Compare, KnowsNansOfEachWidthFromInfinities) {
  EXPECT_TRUE(is_nan(DataType::f16, 0x7c01));
  EXPECT_FALSE(is_nan(DataType::f16, 0x7c00));
  EXPECT_TRUE(is_nan(DataType::bf16, 0xff81));
  EXPECT_FALSE(is_nan(DataType::bf16, 0xff80));
  EXPECT_FALSE(is_nan(DataType::bf16, 0x7c01));
  EXPECT_TRUE(is_nan(DataType::tf32, 0x7f802000));
  EXPECT_FALSE(is_nan(DataType::f32_ftz, 0xff800000));
  EXPECT_TRUE(is_nan(DataType::f64, 0x7ff0000000000001));
  EXPECT_FALSE(is_nan(DataType::f64, 0x7ff0000000000000));
  EXPECT_FALSE(is_nan(DataType::u32, 0xffffffff));
}

}  // namespace
}  // namespace tidemark
