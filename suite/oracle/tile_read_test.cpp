// What a warp reads, predicted and compared, on a tile small enough to follow by hand.
#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "kernels/ops/tile_consume.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
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

std::size_t lanes_at(const Program& program) { return program.window - kGuardBytes - 512; }

// Byte `byte` of all that the lanes read.
std::uint8_t lane_byte(const TileRead& read, std::size_t byte) {
  const Program program = program_of(read);
  return predict(program).snapshots.at(0).window.bytes.at(lanes_at(program) + byte);
}

TEST(TileReadOracle, LaneNineReadsRowOneOfTheNextColumn) {
  const TileRead read = small_read();
  EXPECT_EQ(lane_byte(read, 9 * 16 + 3), source_byte(read.load.payload, 1024 + 144 + 16 + 3));
}

TEST(TileReadOracle, ColumnsGoOnInTheNextGroup) {
  TileRead read = small_read();
  read.first_column = 4;
  EXPECT_EQ(lane_byte(read, 0), source_byte(read.load.payload, 1024 + 64));
}

TEST(TileReadOracle, RowsThatArePlacedAnewHoldTheSame) {
  TileRead read = small_read();
  read.placement = TilePlacement::unsplit;
  read.first_column = 4;
  EXPECT_EQ(lane_byte(read, 9 * 16 + 3), source_byte(read.load.payload, 1024 + 144 + 80 + 3));
}

TEST(TileReadOracle, RowsOutsideTheTensorAreZero) {
  TileRead read = small_read();
  read.load.at = {0, 7, 0};
  EXPECT_EQ(lane_byte(read, 16), 0);
  EXPECT_EQ(lane_byte(read, 0), source_byte(read.load.payload, 1024 + 7 * 144));
}

TEST(TileReadOracle, RefusesNanFill) {
  TileRead read = small_read();
  read.load.map.type = DataType::f16;
  read.load.map.fill = Fill::nan;
  read.load.at = {0, 7, 0};
  EXPECT_THROW(predict(program_of(read)), Error);
}

TEST(TileReadOracle, RefusesWhatIsNoMatrixOrNotInIt) {
  TileRead read = small_read();
  read.first_column = 5;
  EXPECT_THROW(predict(program_of(read)), Error);
  read = small_read();
  read.load.map.box[1] = 7;
  EXPECT_THROW(predict(program_of(read)), Error);
  read = small_read();
  read.load.map.element_stride[2] = 2;
  EXPECT_THROW(predict(program_of(read)), Error);
}

TEST(TileReadOracle, RefusesReadsOffTheWindowOrOverTheTile) {
  const Program right = program_of(small_read());
  const auto with = [&](auto&& change) {
    Program program = right;
    for (Step& step : program.steps)
      if (step.verb == Verb::read_columns) change(step);
    return program;
  };
  EXPECT_EQ(unsound(right), "");
  EXPECT_NE(unsound(with([](Step& step) { step.at[0] = -16; })), "");
  EXPECT_NE(unsound(with([](Step& step) { step.at[1] = -1; })), "");
  EXPECT_NE(unsound(with([](Step& step) { step.at[0] = 1024; })), "");
  EXPECT_NE(unsound(with([](Step& step) { step.stride = 64; })), "");
  EXPECT_NE(unsound(with([&](Step& step) { step.at[0] = static_cast<int>(right.window); })), "");
  EXPECT_NE(unsound(with([&](Step& step) { step.offset = right.window - 128; })), "");
}

// Bytes that a lane wrote are certain, whatever a tile below could be.
TEST(TileReadOracle, LanesOverATileWithNanFillAreExact) {
  TileRead read = small_read();
  Program program = program_of(read);
  const auto lanes = static_cast<std::uint32_t>(lanes_at(program));
  TensorMapSpec nan{.type = DataType::f16, .rank = 1, .extent = {64}, .box = {128}};
  nan.fill = Fill::nan;
  program.maps.push_back({.spec = nan});
  program.steps.insert(program.steps.begin() + 1,
                       {{.verb = Verb::arrive_expect_tx, .bytes = 256},
                        {.verb = Verb::load, .map = 1, .offset = lanes},
                        {.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs}});
  for (std::size_t i = 4; i < program.steps.size(); ++i)
    if (program.steps[i].verb == Verb::wait) program.steps[i].parity = 1;
  const ProgramExpectation expected = predict(program);
  for (const Compare how : expected.snapshots.at(0).window.compare) EXPECT_EQ(how, Compare::exact);
}

TEST(TileReadCompare, NamesLaneRowAndColumnOfAWrongByte) {
  const Program program = program_of(small_read());
  const ProgramExpectation expected = predict(program);
  RunResult result;
  result.bytes = expected.snapshots.at(0).window.bytes;
  result.surroundings = expected.regions;
  for (const ExpectedTrace& trace : expected.trace) result.trace.push_back(trace.value);
  EXPECT_TRUE(compare(program, expected, result, 2).empty());
  result.bytes[lanes_at(program) + 9 * 16 + 3] ^= 0x10;
  const auto found = compare(program, expected, result, 2);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].text.find("lane 9 (row 1, column 1), byte 3"), std::string::npos)
      << found[0].text;
  EXPECT_EQ(found[0].first_offset, lanes_at(program) + 147);
}

}  // namespace
}  // namespace tidemark
