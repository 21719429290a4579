// The oracle of multicasts by hand, and its words where a device is wrong.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
namespace {

// The window of each test: guard 1024, tile 512, guard 1024.
constexpr std::size_t kWindow = 2560;

// CTAs 0 and 2 of three get a box from CTA 1.
MulticastLoad two_of_three() {
  return {.load = {.map = {.extent = {96, 20}, .stride = {112}, .box = {64, 8}},
                   .at = {16, 5},
                   .payload = {.seed = 6}},
          .cluster = {3, 1, 1},
          .mask = 0b101,
          .issuer = 1};
}

// The last window that CTA `rank` hands out.
const ExpectedWindow& last_window(const ProgramExpectation& expected, std::uint32_t rank) {
  for (std::size_t i = expected.snapshots.size(); i-- > 0;)
    if (expected.snapshots[i].cta == rank) return expected.snapshots[i].window;
  throw Error("no window");
}

// What a device that is right hands back.
RunResult right_result(const ProgramExpectation& expected) {
  RunResult result;
  for (const ExpectedSnapshot& snapshot : expected.snapshots)
    result.bytes.insert(result.bytes.end(), snapshot.window.bytes.begin(),
                        snapshot.window.bytes.end());
  result.surroundings = expected.regions;
  for (const ExpectedTrace& trace : expected.trace) result.trace.push_back(trace.value);
  return result;
}

TEST(MulticastOracle, PutsTheBoxIntoTheCtasOfTheMask) {
  const ProgramExpectation expected = predict(checked_program(two_of_three()));
  for (const std::uint32_t rank : {0U, 2U})
    for (std::size_t y = 0; y < 8; ++y)
      for (std::size_t x = 0; x < 64; ++x)
        ASSERT_EQ(last_window(expected, rank).bytes[1024 + 64 * y + x],
                  source_byte({.seed = 6}, 1024 + 112 * (5 + y) + 16 + x))
            << rank << ": " << x << ", " << y;
}

TEST(MulticastOracle, LeavesThePoisonOfEachRankAroundTheBox) {
  const ProgramExpectation expected = predict(checked_program(two_of_three()));
  EXPECT_EQ(last_window(expected, 0).bytes[3], 0xa6);  // 0xa5 ^ 3
  EXPECT_EQ(last_window(expected, 2).bytes[3], 0xa6 ^ 0x22);
  EXPECT_EQ(last_window(expected, 2).bytes[1536], 0xa5 ^ 6 ^ 0x22);  // first behind the tile
}

TEST(MulticastOracle, LeavesAllPoisonOutsideTheMask) {
  const ProgramExpectation expected = predict(checked_program(two_of_three()));
  for (std::size_t i = 0; i < kWindow; ++i)
    ASSERT_EQ(last_window(expected, 1).bytes[i], poison_byte({.seed = 6}, i) ^ 0x11) << i;
}

TEST(MulticastOracle, SlicesMakeTheSameBox) {
  MulticastLoad sliced = two_of_three();
  sliced.slices = 2;
  const ProgramExpectation whole = predict(checked_program(two_of_three()));
  const ProgramExpectation cut = predict(checked_program(sliced));
  EXPECT_EQ(last_window(cut, 2).bytes, last_window(whole, 2).bytes);
  EXPECT_EQ(last_window(cut, 2).tiles.size(), 2U);
}

TEST(MulticastOracle, ExpectsAPhaseThatIsOpenBeforeALateAnnouncement) {
  MulticastLoad late = two_of_three();
  late.late_arm = true;
  const Program program = checked_program(late);
  const ProgramExpectation expected = predict(program);
  const auto test = std::find_if(program.steps.begin(), program.steps.end(),
                                 [](const Step& step) { return step.verb == Verb::test; });
  const auto at = static_cast<std::size_t>(test - program.steps.begin());
  EXPECT_EQ(expected.trace[3 * at].value, 0U);
  EXPECT_EQ(expected.trace[3 * at].judged, ~std::uint64_t{0});
}

TEST(MulticastOracle, WantsAnyNanOnlyInTheTilesOfTheMask) {
  MulticastLoad nan = two_of_three();
  nan.load.map = {
      .type = DataType::f32, .extent = {13, 5}, .stride = {64}, .box = {8, 4}, .fill = Fill::nan};
  nan.load.at = {8, 3};
  const ProgramExpectation expected = predict(checked_program(nan));
  const auto nans = [&](std::uint32_t rank) {
    const auto& compare = last_window(expected, rank).compare;
    return std::count(compare.begin(), compare.end(), Compare::nan_element);
  };
  EXPECT_EQ(nans(0), 4 * (8 * 4 - 5 * 2));
  EXPECT_EQ(nans(1), 0);
}

TEST(MulticastCompare, IsSilentWhereAllIsRight) {
  const Program program = checked_program(two_of_three());
  const ProgramExpectation expected = predict(program);
  EXPECT_TRUE(compare(program, expected, right_result(expected), 9).empty());
}

TEST(MulticastCompare, NamesTheCtaOfAWrongByte) {
  const Program program = checked_program(two_of_three());
  const ProgramExpectation expected = predict(program);
  RunResult result = right_result(expected);
  result.bytes[kWindow + 1024] ^= 1;  // the second window handed out is that of CTA 2
  const auto found = compare(program, expected, result, 9);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "byte");
  EXPECT_EQ(found[0].first_offset, kWindow + 1024);
  EXPECT_NE(found[0].text.find("CTA 2: u8 element (16, 5)"), std::string::npos) << found[0].text;
}

TEST(MulticastCompare, KnowsThePoisonOfARank) {
  const Program program = checked_program(two_of_three());
  const ProgramExpectation expected = predict(program);
  RunResult result = right_result(expected);
  for (std::size_t i = 1024; i < 1040; ++i)
    result.bytes[kWindow + i] = cta_poison_byte({.seed = 6}, 2, i);
  const auto found = compare(program, expected, result, 9);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("still poison"), std::string::npos) << found[0].text;
}

TEST(MulticastCompare, AByteOutsideTheMaskIsToldAsSuch) {
  const Program program = checked_program(two_of_three());
  const ProgramExpectation expected = predict(program);
  RunResult result = right_result(expected);
  result.bytes[result.bytes.size() - kWindow + 1500] ^= 1;  // CTA 1 hands out the last
  const auto found = compare(program, expected, result, 9);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("CTA 1: byte 1500 of a window that nothing was copied to"),
            std::string::npos)
      << found[0].text;
}

TEST(MulticastCompare, AByteOfOneSliceIsToldOnceAndAsAByteOfTheBox) {
  MulticastLoad sliced = two_of_three();
  sliced.slices = 2;
  const Program program = checked_program(sliced);
  const ProgramExpectation expected = predict(program);
  RunResult result = right_result(expected);
  result.bytes[1024 + 5] ^= 1;  // of slice 0
  const auto found = compare(program, expected, result, 9);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "byte");
}

}  // namespace
}  // namespace tidemark
