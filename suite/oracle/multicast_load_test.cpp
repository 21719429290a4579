// The oracle of a multicast against expectations written out here, and its complaints.
#include <gtest/gtest.h>

#include <string>

#include "kernels/error.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/expectation.hpp"

namespace tidemark::suite {
namespace {

// The window of each test: guard 1024, tile 512, guard 1024.
constexpr std::size_t kWindow = 2560;

// u8, 96 x 20 in rows of 112 bytes; a box of 64 x 8 at (16, 5); blocks 0 and 2 of a cluster of 3.
MulticastLoad two_of_three() {
  return {.load = {.map = {.extent = {96, 20}, .stride = {112}, .box = {64, 8}},
                   .at = {16, 5},
                   .payload = {.seed = 6}},
          .cluster = {3, 1, 1},
          .mask = 0b101,
          .issuer = 1};
}

// What a device that is right hands back.
RunResult right_result(const MulticastLoad& multicast) {
  const Expectation expected = predict(multicast);
  RunResult result;
  result.bytes = expected.bytes;
  result.surroundings = expected.surroundings;
  result.cta_ledgers = expected.cta_ledgers;
  return result;
}

Miscompare only_complaint(const RunResult& result) {
  const auto found = compare(two_of_three(), predict(two_of_three()), result, 9);
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? Miscompare{} : found.front();
}

TEST(MulticastOracle, PutsTheBoxIntoTheBlocksOfTheMask) {
  const Expectation expected = predict(two_of_three());
  ASSERT_EQ(expected.bytes.size(), 3 * kWindow);
  for (const std::size_t rank : {0, 2})
    for (std::size_t y = 0; y < 8; ++y)
      for (std::size_t x = 0; x < 64; ++x)
        ASSERT_EQ(expected.bytes[rank * kWindow + 1024 + 64 * y + x],
                  source_byte({.seed = 6}, 1024 + 112 * (5 + y) + 16 + x))
            << rank << ": " << x << ", " << y;
}

TEST(MulticastOracle, LeavesThePoisonOfEachRankAroundTheBox) {
  const Expectation expected = predict(two_of_three());
  EXPECT_EQ(expected.bytes[3], 0xa6);                   // 0xa5 ^ 3
  EXPECT_EQ(expected.bytes[kWindow + 3], 0xa6 ^ 0x11);  // block 1
  EXPECT_EQ(expected.bytes[2 * kWindow + 3], 0xa6 ^ 0x22);
  EXPECT_EQ(expected.bytes[2 * kWindow + 1536], 0xa5 ^ 6 ^ 0x22);  // first byte behind the tile
}

TEST(MulticastOracle, LeavesAllPoisonOutsideTheMask) {
  const Expectation expected = predict(two_of_three());
  for (std::size_t i = 0; i < kWindow; ++i)
    ASSERT_EQ(expected.bytes[kWindow + i], poison_byte({.seed = 6}, i) ^ 0x11) << i;
}

TEST(MulticastOracle, ExpectsCreditOnlyInTheMask) {
  const Expectation expected = predict(two_of_three());
  ASSERT_EQ(expected.cta_ledgers.size(), 3U);
  EXPECT_EQ(expected.cta_ledgers[0].credited, 512U);
  EXPECT_TRUE(expected.cta_ledgers[0].complete);
  EXPECT_EQ(expected.cta_ledgers[1].credited, 0U);
  EXPECT_EQ(expected.cta_ledgers[1].announced, 0U);
  EXPECT_FALSE(expected.cta_ledgers[1].complete);
  EXPECT_FALSE(expected.cta_ledgers[1].next_complete_early);
  EXPECT_TRUE(expected.cta_ledgers[1].next_complete);
}

TEST(MulticastOracle, SlicesAndOrderOfArmingChangeNothing) {
  MulticastLoad sliced = two_of_three();
  sliced.slices = 2;
  sliced.late_arm = true;
  EXPECT_EQ(predict(sliced).bytes, predict(two_of_three()).bytes);
  EXPECT_EQ(predict(sliced).cta_ledgers, predict(two_of_three()).cta_ledgers);
}

TEST(MulticastOracle, WantsAnyNanOnlyInTheTilesOfTheMask) {
  MulticastLoad outside = two_of_three();
  outside.load.map.type = DataType::f32;
  outside.load.map.box = {16, 8};
  outside.load.map.extent = {28, 20};
  outside.load.map.fill = Fill::nan;
  outside.load.at = {0, 100};
  const Expectation expected = predict(outside);
  ASSERT_EQ(expected.compare.size(), 3 * kWindow);
  EXPECT_EQ(expected.compare[1023], Compare::exact);
  EXPECT_EQ(expected.compare[1024], Compare::nan_element);
  EXPECT_EQ(expected.compare[kWindow + 1024], Compare::exact);
  EXPECT_EQ(expected.compare[2 * kWindow + 1535], Compare::nan_element);
  EXPECT_EQ(expected.compare[2 * kWindow + 1536], Compare::exact);
}

TEST(MulticastOracle, RefusesMasksThatNoDocumentCovers) {
  MulticastLoad beyond = two_of_three();
  beyond.mask = 0b1000;
  EXPECT_THROW((void)predict(beyond), Error);
  beyond.mask = 0;
  EXPECT_THROW((void)predict(beyond), Error);
}

TEST(MulticastCompare, IsSilentWhereAllIsRight) {
  const MulticastLoad multicast = two_of_three();
  EXPECT_TRUE(compare(multicast, predict(multicast), right_result(multicast), 9).empty());
}

TEST(MulticastCompare, NamesTheBlockOfAWrongByte) {
  RunResult result = right_result(two_of_three());
  result.bytes[2 * kWindow + 1024 + 65] ^= 0x10;
  const Miscompare found = only_complaint(result);
  EXPECT_EQ(found.what, "byte");
  EXPECT_EQ(found.row, 9U);
  EXPECT_EQ(found.first_offset, 2 * kWindow + 1024 + 65);
  EXPECT_EQ(found.wrong_bytes, 1U);
  EXPECT_EQ(found.coordinate[0], 17);
  EXPECT_EQ(found.coordinate[1], 6);
  EXPECT_TRUE(found.text.starts_with("block 2 of 3: u8 element (17, 6)")) << found.text;
}

TEST(MulticastCompare, NamesTheBlockOfAWrongGuard) {
  RunResult result = right_result(two_of_three());
  result.bytes[2 * kWindow + 1536] = 0;
  const Miscompare found = only_complaint(result);
  EXPECT_EQ(found.what, "guard");
  EXPECT_TRUE(found.text.starts_with("block 2 of 3: guard byte 1 bytes behind")) << found.text;
}

TEST(MulticastCompare, KnowsThePoisonOfARank) {
  RunResult result = right_result(two_of_three());
  for (std::size_t i = 2 * kWindow + 1024; i < 2 * kWindow + 1040; ++i)
    result.bytes[i] = poison_byte({.seed = 6}, i - 2 * kWindow) ^ 0x22;
  const Miscompare found = only_complaint(result);
  EXPECT_NE(found.text.find("still poison"), std::string::npos) << found.text;
}

TEST(MulticastCompare, ABoxOutsideTheMaskIsATouchedCanary) {
  RunResult result = right_result(two_of_three());
  for (std::size_t i = 1024; i < 1536; ++i) result.bytes[kWindow + i] = result.bytes[i];
  const Miscompare found = only_complaint(result);
  EXPECT_EQ(found.what, "canary");
  EXPECT_GE(found.first_offset, kWindow + 1024);
  EXPECT_GT(found.wrong_bytes, 500U);
  EXPECT_TRUE(found.text.starts_with("block 1 of 3 (not in the mask): ")) << found.text;
}

TEST(MulticastCompare, CreditOutsideTheMaskIsALineOfThatBlock) {
  RunResult result = right_result(two_of_three());
  result.cta_ledgers[1].credited = 16;
  result.cta_ledgers[1].next_complete = false;
  const auto found = compare(two_of_three(), predict(two_of_three()), result, 9);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].what, "barrier: next_complete");
  EXPECT_EQ(found[1].what, "barrier: credited");
  EXPECT_EQ(found[1].expected, 0U);
  EXPECT_EQ(found[1].actual, 16U);
}

TEST(MulticastCompare, ComplainsOfTheSourceOnce) {
  RunResult result = right_result(two_of_three());
  result.surroundings[40] ^= 1;
  const Miscompare found = only_complaint(result);
  EXPECT_EQ(found.what, "source");
  EXPECT_EQ(found.first_offset, 40U);
}

TEST(MulticastCompare, ComplainsOfMissingWindowsAndLedgers) {
  RunResult result = right_result(two_of_three());
  result.bytes.resize(2 * kWindow);
  EXPECT_EQ(only_complaint(result).wrong_bytes, kWindow);
  result = right_result(two_of_three());
  result.cta_ledgers.pop_back();
  EXPECT_EQ(only_complaint(result).actual, 2U);
}

}  // namespace
}  // namespace tidemark::suite
