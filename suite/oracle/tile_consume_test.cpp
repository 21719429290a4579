// wgmma in the oracle on products small enough to work out by hand, and what is said of a wrong
// one.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "kernels/error.hpp"
#include "suite/case.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
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

using Bytes = std::vector<std::uint8_t>;

// The window behind the product.
Bytes predicted(const TileConsume& op) {
  return predict(program_of(op)).snapshots.at(0).window.bytes;
}

template <class Number = std::int32_t>
Number c_at(const TileConsume& op, std::size_t element) {
  Number value{};
  std::memcpy(&value, &predicted(op).at(product_offset(wgmma_of(op)) + 4 * element), 4);
  return value;
}

Bytes product_of(const TileConsume& op) {
  const Wgmma product = wgmma_of(op);
  const Bytes window = predicted(op);
  const auto begin = window.begin() + product_offset(product);
  return {begin, begin + product_bytes(product)};
}

std::uint64_t start_of_b(const TileConsume& op) {
  return box_load(op, GemmOperand::b, 0).map.base_offset;
}

TEST(TileConsumeOracle, IsTheSumOfProductsAlongK) {
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 32; ++k) sum += source(64 * 7 + k) * source(5120 + 64 * 3 + k);
  EXPECT_EQ(c_at(small(), 8 * 7 + 3), sum);
}

TEST(TileConsumeOracle, StartsWhereTheTileDoes) {
  TileConsume op = small();
  op.at = {2, 1, 16};
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 32; ++k)
    sum += source(64 * (7 + 2) + 16 + k) * source(5120 + 64 * (3 + 1) + 16 + k);
  EXPECT_EQ(c_at(op, 8 * 7 + 3), sum);
}

TEST(TileConsumeOracle, WhatLiesOutsideIsZero) {
  TileConsume op = small();
  op.at = {0, 6, -16};
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 16; ++k) sum += source(64 * 7 + k) * source(5120 + 64 * 7 + k);
  EXPECT_EQ(c_at(op, 8 * 7 + 1), sum);
  EXPECT_EQ(c_at(op, 8 * 7 + 2), 0);
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
  EXPECT_EQ(c_at<float>(op, 8 * 9 + 5), static_cast<float>(sum));
}

TEST(TileConsumeOracle, IsTheSameProductWhereverTheTileStarts) {
  TileConsume op = small();
  op.b.offset = 256;
  EXPECT_EQ(product_of(op), product_of(small()));
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
  EXPECT_EQ(c_at(op, 8 * 0 + 3), row_times_row(0, 3));
  EXPECT_EQ(c_at(op, 8 * 1 + 3), row_times_row(2, 3));
  // Row 2 lies 128 bytes behind the start, where both swizzles exchange its halves.
  EXPECT_EQ(c_at(op, 8 * 2 + 3), row_times_row(4, 3));
  // Row 4 at 256: the 64-byte swizzle turns by two chunks, which the 32-byte one leaves.
  EXPECT_EQ(c_at(op, 8 * 4 + 3), row_times_row(9, 3));
  // The second group of eight rows starts there, too.
  EXPECT_EQ(c_at(op, 8 * 8 + 3), row_times_row(9, 3));
  // Row 63 at 7 * 256 + 7 * 64 is behind A: in the seventh row of B.
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 32; ++k)
    sum += source(5120 + 64 * 6 + k) * source(5120 + 64 * 3 + k);
  EXPECT_EQ(c_at(op, 8 * 63 + 3), sum);
}

TEST(TileConsumeOracle, ABaseOffsetOfOneRowExchangesTheHalvesOf32Bytes) {
  TileConsume op = small();
  op.a.base_offset = 1;
  std::int32_t sum = 0;
  for (std::uint64_t k = 0; k < 32; ++k)
    sum += source(64 * 7 + (k ^ 16)) * source(5120 + 64 * 3 + k);
  EXPECT_EQ(c_at(op, 8 * 7 + 3), sum);
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
    sum += source(80 * 4 + (k ^ 16 ^ 32)) * source(start_of_b(op) + 80 * 3 + k);
  EXPECT_EQ(c_at(op, 8 * 4 + 3), sum);
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
  EXPECT_EQ(c_at(op, 8 * 1 + 3), sum);
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
    sum += f16(144 * row + byte) * f16(start_of_b(op) + 144 * k + 2 * 5);
  }
  EXPECT_EQ(c_at<float>(op, 64 * 9 + 5), static_cast<float>(sum));
}

TEST(TileConsumeOracle, RefusesADescriptorThatLeadsOutOfBothTiles) {
  TileConsume op = small();
  op.b.read_as = Swizzle::b64;
  EXPECT_THROW((void)predict(program_of(op)), Error);
}

// A row that came out as the product would prove nothing.
TEST(TileConsumeOracle, NoRowThatIsReadAnotherWayIsTheProduct) {
  for (const char* name : {"consume.mismatch", "consume.base_offset"}) {
    std::uint32_t differing = 0;
    for (const Op& row : case_named(name)->rows({})) {
      TileConsume op = std::get<TileConsume>(row);
      if (reads_as_written(wgmma_of(op))) continue;
      const Bytes product = product_of(op);
      for (WgmmaOperand* operand : {&op.a, &op.b}) {
        operand->read_as = operand->swizzle;
        operand->base_offset = 0;
      }
      EXPECT_NE(product, product_of(op)) << parameters_of(row);
      ++differing;
    }
    EXPECT_GE(differing, 30U) << name;
  }
}

// Element (mn, k) of A or B, straight from its tensor.
std::int64_t element(const TileConsume& op, GemmOperand which, std::int64_t mn, std::int64_t k) {
  const TileLoad first = box_load(op, which, 0);
  const bool k_major = (which == GemmOperand::a ? op.a : op.b).major == Major::k;
  const std::int64_t inner = first.at[0] + (k_major ? k : mn);
  const std::int64_t outer = first.at[1] + (k_major ? mn : k);
  if (inner < 0 || outer < 0 || inner >= static_cast<std::int64_t>(first.map.extent[0]) ||
      outer >= static_cast<std::int64_t>(first.map.extent[1]))
    return 0;
  const auto offset = static_cast<std::uint64_t>(
      1024 + first.map.base_offset + outer * static_cast<std::int64_t>(first.map.stride[0]) +
      inner * element_bytes(op.type));
  return integer_of(op.type, static_cast<std::uint32_t>(source_word(op.payload, offset / 8) >>
                                                        (8 * (offset % 8))));
}

// Shared memory, swizzles and descriptors do not come into it.
TEST(TileConsumeOracle, AProductReadAsItWasWrittenIsThatOfTheTensors) {
  for (const char* name : {"consume.k_major", "consume.mn_major", "consume.k_steps",
                           "consume.outside", "consume.phase"})
    for (const Op& row : case_named(name)->rows({})) {
      const auto& op = std::get<TileConsume>(row);
      const Bytes product = product_of(op);
      for (std::uint32_t at = 0; at < 64 * op.n; at += 37) {
        std::int64_t sum = 0;
        for (std::int64_t k = 0; k < op.k; ++k)
          sum +=
              element(op, GemmOperand::a, at / op.n, k) * element(op, GemmOperand::b, at % op.n, k);
        std::int32_t whole = 0;
        float number = 0;
        std::memcpy(&whole, &product[4 * at], 4);
        std::memcpy(&number, &product[4 * at], 4);
        ASSERT_EQ(is_integer(op.type) ? whole : static_cast<std::int64_t>(number), sum)
            << parameters_of(row) << " element " << at;
      }
    }
}

TEST(TileConsumeOracle, RefusesWhatLiesOutsideOfTheWindow) {
  const Program right = program_of(small());
  const auto refuses = [](const Program& program) {
    EXPECT_NE(unsound(program), "");
    EXPECT_THROW((void)predict(program), Error);
  };
  for (const std::uint32_t offset : {right.window - 16, product_offset(right.products[0]) + 8,
                                     right.products[0].b.offset - 1024}) {
    Program program = right;
    for (Step& step : program.steps)
      if (step.verb == Verb::wgmma) step.offset = offset;
    refuses(program);
  }
  Program program = right;
  program.products[0].b.offset = right.window - 128;
  refuses(program);
  program.products.assign(17, right.products[0]);
  refuses(program);
}

// A warp that is done may write C while another one still reads.
TEST(TileConsumeOracle, RefusesADescriptorThatLeadsToC) {
  TileConsume op = small();
  op.b.read_as = Swizzle::b64;  // leads 256 bytes behind B
  Program program = program_of(op);
  const std::uint32_t behind = program.products[0].b.offset + 256;
  for (Step& step : program.steps)
    if (step.verb == Verb::arrive_expect_tx) step.bytes += 256;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    Step load = program.steps[i];
    if (load.verb != Verb::load || load.map != 1) continue;
    load.offset = behind;
    program.steps.insert(program.steps.begin() + static_cast<std::ptrdiff_t>(i), load);
    break;
  }
  EXPECT_NO_THROW((void)predict(program));
  for (Step& step : program.steps)
    if (step.verb == Verb::wgmma) step.offset = behind;
  EXPECT_EQ(unsound(program), "");
  EXPECT_THROW((void)predict(program), Error);
}

TEST(TileConsumeOracle, RefusesWhatIsNotDocumented) {
  TileConsume op = small();
  op.at = {0, 0, 8};  // off 16 bytes
  EXPECT_THROW((void)predict(program_of(op)), Error);
  op = small();
  op.a.base_offset = 2;  // a 32-byte pattern starts every second row
  EXPECT_THROW((void)predict(program_of(op)), Error);
  op = small();
  op.a.swizzle = op.a.read_as = Swizzle::none;
  op.a.base_offset = 1;
  EXPECT_THROW((void)predict(program_of(op)), Error);
  op = small();
  op.n = 24;
  EXPECT_THROW((void)predict(program_of(op)), Error);
  op = small();
  op.extent[1] = 0;
  EXPECT_THROW((void)predict(program_of(op)), Error);
}

// What the device answers where all is right.
RunResult right_result(const Program& program, const ProgramExpectation& expected) {
  RunResult result;
  for (const ExpectedSnapshot& snapshot : expected.snapshots)
    result.bytes.insert(result.bytes.end(), snapshot.window.bytes.begin(),
                        snapshot.window.bytes.end());
  result.surroundings = expected.regions;
  result.trace.resize(program.steps.size());
  for (std::size_t i = 0; i < expected.trace.size(); ++i) result.trace[i] = expected.trace[i].value;
  return result;
}

TEST(TileConsumeCompare, SaysNothingWhereAllAgrees) {
  const Program program = program_of(small());
  const ProgramExpectation expected = predict(program);
  EXPECT_TRUE(compare(program, expected, right_result(program, expected), 0).empty());
}

TEST(TileConsumeCompare, ComplainsAboutEachByteOfTheWindow) {
  const Program program = program_of(small());
  const ProgramExpectation expected = predict(program);
  const std::size_t begin = product_offset(program.products[0]);
  for (std::size_t offset = begin - 64; offset < program.window; ++offset) {
    RunResult result = right_result(program, expected);
    result.bytes[offset] ^= 0x10;
    const auto found = compare(program, expected, result, 3);
    ASSERT_EQ(found.size(), 1U) << offset;
    EXPECT_EQ(found[0].what, offset >= begin && offset < begin + 2048 ? "C" : "guard") << offset;
    EXPECT_EQ(found[0].first_offset, offset);
    EXPECT_EQ(found[0].wrong_bytes, 1U);
    EXPECT_EQ(found[0].row, 3U);
  }
}

TEST(TileConsumeCompare, NamesTheElementOfCAndBothNumbers) {
  const Program program = program_of(small());
  const ProgramExpectation expected = predict(program);
  RunResult result = right_result(program, expected);
  const std::int32_t wrong = -3;
  std::memcpy(&result.bytes[product_offset(program.products[0]) + 4 * (8 * 7 + 2)], &wrong, 4);
  const auto found = compare(program, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].coordinate[0], 7);
  EXPECT_EQ(found[0].coordinate[1], 2);
  EXPECT_NE(found[0].text.find("C[7][2] of the u8 product"), std::string::npos) << found[0].text;
  EXPECT_NE(found[0].text.find("got -3; 1 of 512"), std::string::npos) << found[0].text;
}

TEST(TileConsumeCompare, WhatIsWrittenOverCIsNoProductAnyMore) {
  Program program = program_of(small());
  const std::uint32_t at = product_offset(program.products[0]);
  program.steps.push_back({.verb = Verb::poison, .offset = at + 16, .bytes = 64});
  program.steps.push_back({.verb = Verb::snapshot});
  const ProgramExpectation expected = predict(program);
  RunResult result = right_result(program, expected);
  result.bytes[program.window + at] ^= 1;
  const auto found = compare(program, expected, result, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "guard");
}

TEST(TileConsumeCompare, SaysWhereADescriptorHasNoEffect) {
  TileConsume op = small();
  op.a.read_as = Swizzle::b64;
  const Program program = program_of(op), written = program_of(small());
  const auto found = compare(program, predict(program), right_result(written, predict(written)), 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "C");
  EXPECT_NE(found[0].text.find("has no effect"), std::string::npos) << found[0].text;
}

TEST(TileConsumeCompare, AMismatchIsComparedInEachByteOfC) {
  TileConsume op = small();
  op.b.base_offset = 1;
  const Program program = program_of(op);
  const ProgramExpectation expected = predict(program);
  EXPECT_TRUE(compare(program, expected, right_result(program, expected), 0).empty());
  for (const std::size_t offset : {0U, 976U, 2047U}) {
    RunResult result = right_result(program, expected);
    result.bytes[product_offset(program.products[0]) + offset] ^= 1;
    const auto found = compare(program, expected, result, 0);
    ASSERT_EQ(found.size(), 1U) << offset;
    EXPECT_EQ(found[0].text.find("has no effect"), std::string::npos) << found[0].text;
  }
}

}  // namespace
}  // namespace tidemark
