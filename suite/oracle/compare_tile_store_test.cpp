// The comparator of tile stores must complain about one wrong bit anywhere, and must not where all
// agrees.
#include <gtest/gtest.h>

#include "suite/oracle/compare.hpp"

namespace tidemark::suite {
namespace {

// Two boxes of 32 x 2 bytes at (16, 1) and (16, 3), rows 80 bytes apart.
TileStore small_store() {
  return {
      .map = {.type = DataType::u8, .rank = 2, .extent = {64, 6}, .stride = {80}, .box = {32, 2}},
      .at = {16, 1},
      .stores = 2,
      .payload = {.seed = 7}};
}

RunResult right_result(const Expectation& expected) {
  RunResult result;
  result.bytes = expected.bytes;
  result.surroundings = expected.surroundings;
  result.stored = expected.stored;
  return result;
}

bool is_stored(std::size_t offset) {
  if (offset < 1024) return false;
  const std::size_t y = (offset - 1024) / 80;
  const std::size_t x = (offset - 1024) % 80;
  return y >= 1 && y < 5 && x >= 16 && x < 48;
}

TEST(CompareTileStore, SaysNothingWhereAllAgrees) {
  const Expectation expected = predict(small_store());
  EXPECT_TRUE(compare(small_store(), expected, right_result(expected), 0).empty());
}

TEST(CompareTileStore, ComplainsAboutEachByteOfTheDestination) {
  const Expectation expected = predict(small_store());
  for (std::size_t offset = 0; offset < expected.bytes.size(); ++offset) {
    RunResult result = right_result(expected);
    result.bytes[offset] ^= 0x10;
    const auto found = compare(small_store(), expected, result, 3);
    ASSERT_EQ(found.size(), 1U) << offset;
    EXPECT_EQ(found[0].what, is_stored(offset) ? "byte" : "guard") << offset;
    EXPECT_EQ(found[0].first_offset, offset);
    EXPECT_EQ(found[0].wrong_bytes, 1U);
    EXPECT_EQ(found[0].row, 3U);
  }
}

TEST(CompareTileStore, ComplainsAboutEachByteOfTheWindow) {
  const Expectation expected = predict(small_store());
  for (std::size_t offset = 0; offset < expected.surroundings.size(); ++offset) {
    RunResult result = right_result(expected);
    result.surroundings[offset] ^= 0x80;
    const auto found = compare(small_store(), expected, result, 0);
    ASSERT_EQ(found.size(), 1U) << offset;
    EXPECT_EQ(found[0].what, "source");
    EXPECT_EQ(found[0].first_offset, offset);
  }
}

TEST(CompareTileStore, ComplainsAboutEachByteThatTheThreadRead) {
  const Expectation expected = predict(small_store());
  for (std::uint32_t group = 0; group < kMaxStores; ++group)
    for (std::uint32_t probe = 0; probe < kProbes; ++probe)
      for (std::size_t i = 0; i < 16; ++i) {
        RunResult result = right_result(expected);
        result.stored.read[group][probe][i] ^= 0x01;
        const auto found = compare(small_store(), expected, result, 0);
        ASSERT_EQ(found.size(), 1U) << group << ", " << probe << ", " << i;
        EXPECT_EQ(found[0].what, "group: read after the wait");
        EXPECT_EQ(found[0].wrong_bytes, 1U);
      }
}

TEST(CompareTileStore, NamesTheElementAndWhereItsBytesCameFrom) {
  const TileStore store = small_store();
  const Expectation expected = predict(store);
  RunResult result = right_result(expected);
  for (std::size_t i = 0; i < 16; ++i)  // the first chunk of the second tile
    result.bytes[1024 + 80 + 16 + i] = expected.surroundings[1024 + 128 + i];
  const auto found = compare(store, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 16);
  EXPECT_EQ(found[0].coordinate[1], 1);
  EXPECT_NE(found[0].text.find("element (16, 1)"), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].text.find("stood 1152 bytes into the shared window"), std::string::npos)
      << found[0].text;
}

TEST(CompareTileStore, SaysThatNothingWasStored) {
  const TileStore store = small_store();
  const Expectation expected = predict(store);
  RunResult result = right_result(expected);
  for (std::size_t i = 0; i < 16; ++i)
    result.bytes[1024 + 80 + 16 + i] = poison_byte(store.payload, 1024 + 80 + 16 + i);
  const auto found = compare(store, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("still poison"), std::string::npos) << found[0].text;
}

TEST(CompareTileStore, SaysThatTheSourceWasReadTooLate) {
  TileStore store = small_store();
  store.wait = StoreWait::read;
  const Expectation expected = predict(store);
  RunResult result = right_result(expected);
  for (std::size_t i = 0; i < 16; ++i)
    result.bytes[1024 + 80 + 16 + i] = expected.surroundings[1024 + i];
  const auto found = compare(store, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("after wait_group.read"), std::string::npos) << found[0].text;
}

TEST(CompareTileStore, ComplainsAboutMissingBytes) {
  const Expectation expected = predict(small_store());
  RunResult result = right_result(expected);
  result.bytes.pop_back();
  result.surroundings.clear();
  const auto found = compare(small_store(), expected, result, 0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].what, "byte");
  EXPECT_EQ(found[1].what, "source");
}

TEST(CompareTileStore, PassesOverWhatIsOnlyRecordedAndNothingElse) {
  TileStore store = small_store();
  store.wait = StoreWait::none;
  store.held_to = HeldTo::record;
  const Expectation expected = predict(store);
  RunResult result = right_result(expected);
  result.bytes[1024 + 80 + 16] ^= 0x10;
  EXPECT_TRUE(compare(store, expected, result, 0).empty());
  result.bytes[1024 + 80 + 15] ^= 0x10;
  const auto found = compare(store, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "guard");
}

TEST(CompareTileStore, NeverLooksAtWhatABystanderSaw) {
  const Expectation expected = predict(small_store());
  RunResult result = right_result(expected);
  result.stored.by_other[0][0][3] = 0x77;
  EXPECT_TRUE(compare(small_store(), expected, result, 0).empty());
}

}  // namespace
}  // namespace tidemark::suite
