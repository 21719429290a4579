// The comparator of tile stores must complain about one wrong bit anywhere, and must not where all
// agrees.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/ops/program/checks.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
namespace {

// Two boxes of 32 x 2 bytes at (16, 1) and (16, 3), rows 80 bytes apart.
TileStore small_store() {
  return {
      .map = {.type = DataType::u8, .rank = 2, .extent = {64, 6}, .stride = {80}, .box = {32, 2}},
      .at = {16, 1},
      .stores = 2,
      .payload = {.seed = 7}};
}

RunResult right_result(const ProgramExpectation& expected) {
  RunResult result;
  for (const ExpectedSnapshot& snapshot : expected.snapshots)
    result.bytes.insert(result.bytes.end(), snapshot.window.bytes.begin(),
                        snapshot.window.bytes.end());
  result.surroundings = expected.regions;
  for (const ExpectedTrace& trace : expected.trace) result.trace.push_back(trace.value);
  return result;
}

ProgramExpectation predicted(const TileStore& store) { return predict(checked_program(store)); }

std::vector<Miscompare> compared(const TileStore& store, const ProgramExpectation& expected,
                                 const RunResult& result, std::uint32_t row) {
  return compare(checked_program(store), expected, result, row);
}

bool is_stored(std::size_t offset) {
  if (offset < 1024) return false;
  const std::size_t y = (offset - 1024) / 80;
  const std::size_t x = (offset - 1024) % 80;
  return y >= 1 && y < 5 && x >= 16 && x < 48;
}

TEST(CompareTileStore, SaysNothingWhereAllAgrees) {
  const ProgramExpectation expected = predicted(small_store());
  EXPECT_TRUE(compared(small_store(), expected, right_result(expected), 0).empty());
}

TEST(CompareTileStore, ComplainsAboutEachByteOfTheDestination) {
  const ProgramExpectation expected = predicted(small_store());
  for (std::size_t offset = 0; offset < expected.regions.size(); ++offset) {
    RunResult result = right_result(expected);
    result.surroundings[offset] ^= 0x10;
    const auto found = compared(small_store(), expected, result, 3);
    ASSERT_EQ(found.size(), 1U) << offset;
    EXPECT_EQ(found[0].what, is_stored(offset) ? "byte" : "guard") << offset;
    EXPECT_EQ(found[0].first_offset, offset);
    EXPECT_EQ(found[0].wrong_bytes, 1U);
    EXPECT_EQ(found[0].row, 3U);
  }
}

TEST(CompareTileStore, ComplainsAboutEachByteOfTheWindow) {
  const ProgramExpectation expected = predicted(small_store());
  for (std::size_t offset = 0; offset < expected.snapshots[0].window.bytes.size(); ++offset) {
    RunResult result = right_result(expected);
    result.bytes[offset] ^= 0x80;
    const auto found = compared(small_store(), expected, result, 0);
    ASSERT_EQ(found.size(), 1U) << offset;
    EXPECT_EQ(found[0].what, "source");
    EXPECT_EQ(found[0].first_offset, offset);
  }
}

TEST(CompareTileStore, ComplainsAboutEachByteThatTheThreadRead) {
  const Program program = checked_program(small_store());
  const ProgramExpectation expected = predict(program);
  std::size_t reads = 0;
  for (std::size_t step = 0; step < program.steps.size(); ++step) {
    if (program.steps[step].verb != Verb::wait_group || program.steps[step].region == kNoRegion)
      continue;
    ++reads;
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      RunResult result = right_result(expected);
      result.trace[step] ^= std::uint64_t{1} << bit;
      const auto found = compare(program, expected, result, 0);
      ASSERT_EQ(found.size(), 1U) << step << ", " << bit;
      EXPECT_EQ(found[0].what, "group: read after the wait");
    }
  }
  EXPECT_EQ(reads, 4U);
}

TEST(CompareTileStore, SaysThatAReadCameTooEarly) {
  const Program program = checked_program(small_store());
  const ProgramExpectation expected = predict(program);
  RunResult result = right_result(expected);
  const auto wait = std::find_if(program.steps.begin(), program.steps.end(),
                                 [](const Step& step) { return step.verb == Verb::wait_group; });
  std::uint64_t poison = 0;
  for (std::uint32_t i = 0; i < 8; ++i)
    poison |= std::uint64_t{poison_byte(program.payload, wait->word + i)} << (8 * i);
  result.trace[static_cast<std::size_t>(wait - program.steps.begin())] = poison;
  const auto found = compare(program, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("read too early what still was poison"), std::string::npos)
      << found[0].text;
}

TEST(CompareTileStore, NamesTheElementAndWhereItsBytesCameFrom) {
  const TileStore store = small_store();
  const ProgramExpectation expected = predicted(store);
  RunResult result = right_result(expected);
  for (std::size_t i = 0; i < 16; ++i)  // the first chunk of the second tile
    result.surroundings[1024 + 80 + 16 + i] = expected.snapshots[0].window.bytes[1024 + 128 + i];
  const auto found = compared(store, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 16);
  EXPECT_EQ(found[0].coordinate[1], 1);
  EXPECT_NE(found[0].text.find("element (16, 1)"), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].text.find("stood 1152 bytes into the shared window"), std::string::npos)
      << found[0].text;
}

TEST(CompareTileStore, SaysThatNothingWasStored) {
  const TileStore store = small_store();
  const ProgramExpectation expected = predicted(store);
  RunResult result = right_result(expected);
  for (std::size_t i = 0; i < 16; ++i)
    result.surroundings[1024 + 80 + 16 + i] = poison_byte(store.payload, 1024 + 80 + 16 + i);
  const auto found = compared(store, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("still poison"), std::string::npos) << found[0].text;
}

TEST(CompareTileStore, SaysThatTheSourceWasReadTooLate) {
  TileStore store = small_store();
  store.wait = StoreWait::read;
  const ProgramExpectation expected = predicted(store);
  RunResult result = right_result(expected);
  for (std::size_t i = 0; i < 16; ++i)
    result.surroundings[1024 + 80 + 16 + i] = expected.snapshots[0].window.bytes[1024 + i];
  const auto found = compared(store, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("after wait_group.read"), std::string::npos) << found[0].text;
}

TEST(CompareTileStore, ComplainsAboutMissingBytes) {
  const ProgramExpectation expected = predicted(small_store());
  RunResult result = right_result(expected);
  result.bytes.pop_back();
  result.surroundings.clear();
  const auto found = compared(small_store(), expected, result, 0);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].what, "byte");
  EXPECT_EQ(found[1].what, "source");
}

TEST(CompareTileStore, PassesOverWhatIsOnlyRecordedAndNothingElse) {
  TileStore store = small_store();
  store.wait = StoreWait::none;
  store.held_to = HeldTo::record;
  const ProgramExpectation expected = predicted(store);
  RunResult result = right_result(expected);
  result.surroundings[1024 + 80 + 16] ^= 0x10;
  EXPECT_TRUE(compared(store, expected, result, 0).empty());
  result.surroundings[1024 + 80 + 15] ^= 0x10;
  const auto found = compared(store, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "guard");
}

TEST(CompareTileStore, NeverLooksAtWhatABystanderSaw) {
  TileStore store = small_store();
  store.bystander = true;
  const Program program = checked_program(store);
  const ProgramExpectation expected = predict(program);
  RunResult result = right_result(expected);
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == Verb::look) result.trace[i] ^= 0x77;
  EXPECT_TRUE(compare(program, expected, result, 0).empty());
}

}  // namespace
}  // namespace tidemark
