// What memory holds before a program changes it, and what ordinary accesses of threads make of it.
#include "suite/oracle/contents.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string>

#include "kernels/error.hpp"
#include "kernels/ops/tile_store.hpp"
#include "suite/oracle/program.hpp"

namespace tidemark {
namespace {

// Two tiles of 8 x 4 elements, 32-byte rows, through one stage.
TileRoundTrip two(DataType type) {
  const TensorMapSpec map{
      .type = type, .extent = {8, 8}, .stride = {32}, .box = {8, 4}, .swizzle = Swizzle::b32};
  const TileWalk walk{.at = {}, .step = {0, 4}, .tiles = {1, 2, 1, 1, 1}};
  return {.from = map,
          .to = map,
          .load = walk,
          .store = walk,
          .work = TileWork::add_index,
          .numbers = Numbers::counting,
          .in_place = true,
          .payload = {}};
}

std::uint32_t word(const std::vector<std::uint8_t>& bytes, std::size_t index) {
  std::uint32_t value = 0;
  std::memcpy(&value, &bytes[1024 + 4 * index], 4);
  return value;
}

std::string refusal(const Program& program) {
  try {
    (void)predict(program);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// The number of the `nth` step of `verb`, counted from 0.
std::size_t find(const Program& program, Verb verb, std::size_t nth = 0) {
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == verb && nth-- == 0) return i;
  return program.steps.size();
}

Program without(Program program, Verb verb, std::size_t nth = 0) {
  program.steps.erase(program.steps.begin() +
                      static_cast<std::ptrdiff_t>(find(program, verb, nth)));
  return program;
}

TEST(ThreadWork, AddsTheIndexUnderASwizzle) {
  const ProgramExpectation expected = predict(program_of(two(DataType::s32)));
  for (std::uint32_t i = 0; i < 64; ++i) EXPECT_EQ(word(expected.regions, i), i + i % 32) << i;
}

TEST(ThreadWork, AddsInF32) {
  const ProgramExpectation expected = predict(program_of(two(DataType::f32)));
  EXPECT_EQ(word(expected.regions, 40), 0x42400000U);  // 40 + 8
}

TEST(ThreadWork, RefusesASumThatIsRounded) {
  TileRoundTrip trip = two(DataType::f32);
  trip.numbers = Numbers::hash;
  EXPECT_NE(refusal(program_of(trip)).find("is rounded"), std::string::npos);
}

TEST(ThreadWork, CopiesWhatALoadWouldBring) {
  TileRoundTrip trip = two(DataType::u32);
  trip.work = TileWork::thread_copy;
  trip.in_place = false;
  const ProgramExpectation expected = predict(program_of(trip));
  for (std::uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(word(expected.regions, (2048 + 256) / 4 + i), i) << i;
}

TEST(ThreadWork, RefusesToLoadOverWhatAStoreMayRead) {
  const Program program = without(program_of(two(DataType::u32)), Verb::wait_group_read);
  EXPECT_NE(refusal(program).find("(load): a store may still read what is overwritten"),
            std::string::npos)
      << refusal(program);
}

TEST(ThreadWork, RefusesToWorkOnWhatALoadMayStillWrite) {
  const Program program = without(program_of(two(DataType::u32)), Verb::wait);
  EXPECT_NE(refusal(program).find("(add): a load may still write what is taken here"),
            std::string::npos)
      << refusal(program);
}

TEST(ThreadWork, RefusesToStoreWhatALoadMayStillWrite) {
  Program program = without(without(program_of(two(DataType::u32)), Verb::wait), Verb::add);
  EXPECT_NE(refusal(program).find("(store): a load may still write what is taken here"),
            std::string::npos)
      << refusal(program);
}

TEST(ThreadWork, RefusesToLoadWhatAStoreMayStillWrite) {
  Program program = program_of(two(DataType::u32));
  program.steps[find(program, Verb::load, 1)].at[1] = 3;  // one row is in the box stored before
  EXPECT_NE(refusal(program).find("(load): a store may still write what is read here"),
            std::string::npos)
      << refusal(program);
}

TEST(ThreadWork, RefusesToStoreWhereALoadMayStillRead) {
  TileRoundTrip trip = two(DataType::u32);
  trip.stages = 2;
  Program program = program_of(trip);
  program.steps[find(program, Verb::store)].at[1] = 1;  // three rows are in the box loaded next
  EXPECT_NE(refusal(program).find("(store): a load may still read what is stored to"),
            std::string::npos)
      << refusal(program);
}

TEST(ThreadWork, RefusesToCopyWhatAStoreMayStillWrite) {
  TileRoundTrip trip = two(DataType::u32);
  Program program = program_of(trip);
  const std::size_t store = find(program, Verb::store);
  program.window += 4096;
  program.steps.insert(program.steps.begin() + static_cast<std::ptrdiff_t>(store) + 1,
                       {.verb = Verb::copy, .offset = 4096});
  EXPECT_NE(refusal(program).find("(copy): a store may still write what is read here"),
            std::string::npos)
      << refusal(program);
}

// Reductions of single elements, with results worked out by hand.

template <typename Element>
Element of_first(Reduction reduction, DataType type, Element memory, Element comes) {
  std::array<std::uint8_t, 16> to{}, from{};
  std::memcpy(to.data(), &memory, sizeof memory);
  std::memcpy(from.data(), &comes, sizeof comes);
  reduce_chunk(reduction, type, from.data(), to.data());
  std::memcpy(&memory, to.data(), sizeof memory);
  return memory;
}

std::uint32_t of_u32(Reduction reduction, std::uint32_t memory, std::uint32_t comes) {
  return of_first(reduction, DataType::u32, memory, comes);
}

std::int32_t of_s32(Reduction reduction, std::int32_t memory, std::int32_t comes) {
  return of_first(reduction, DataType::s32, memory, comes);
}

TEST(ReduceChunk, SumsWrap) {
  EXPECT_EQ(of_u32(Reduction::add, 0xffffffff, 3), 2U);
  EXPECT_EQ(of_s32(Reduction::add, 0x7fffffff, 1), -0x7fffffff - 1);
}

TEST(ReduceChunk, SumsOfEightBytesCarry) {
  EXPECT_EQ(of_first<std::uint64_t>(Reduction::add, DataType::u64, 0xffffffff, 1), 0x100000000U);
}

TEST(ReduceChunk, LeastAndGreatestGoByTheSignOfTheType) {
  EXPECT_EQ(of_u32(Reduction::min, 0xffffffff, 1), 1U);
  EXPECT_EQ(of_s32(Reduction::min, -1, 1), -1);
  EXPECT_EQ(of_u32(Reduction::max, 0xffffffff, 1), 0xffffffffU);
  EXPECT_EQ(of_s32(Reduction::max, -1, 1), 1);
  EXPECT_EQ(of_first<std::int64_t>(Reduction::min, DataType::s64, -5, 5), -5);
}

TEST(ReduceChunk, IncrementEndsAtWhatComes) {
  EXPECT_EQ(of_u32(Reduction::inc, 4, 6), 5U);
  EXPECT_EQ(of_u32(Reduction::inc, 6, 6), 0U);
  EXPECT_EQ(of_u32(Reduction::inc, 9, 6), 0U);
}

TEST(ReduceChunk, DecrementBeginsAgainAtWhatComes) {
  EXPECT_EQ(of_u32(Reduction::dec, 4, 6), 3U);
  EXPECT_EQ(of_u32(Reduction::dec, 6, 6), 5U);
  EXPECT_EQ(of_u32(Reduction::dec, 0, 6), 6U);
  EXPECT_EQ(of_u32(Reduction::dec, 9, 6), 6U);
}

TEST(ReduceChunk, BitsAreCombined) {
  EXPECT_EQ(of_u32(Reduction::bit_and, 0xc, 0xa), 0x8U);
  EXPECT_EQ(of_u32(Reduction::bit_or, 0xc, 0xa), 0xeU);
  EXPECT_EQ(of_u32(Reduction::bit_xor, 0xc, 0xa), 0x6U);
}

std::uint16_t of_f16(Reduction reduction, std::uint16_t memory, std::uint16_t comes) {
  return of_first(reduction, DataType::f16, memory, comes);
}

std::uint32_t of_f32(std::uint32_t memory, std::uint32_t comes) {
  return of_first(Reduction::add, DataType::f32, memory, comes);
}

// Bits that an H200 left, driver 580.159.04.
TEST(ReduceChunk, SumsAreRoundedToTheNearestAndTiesToEven) {
  EXPECT_EQ(of_f16(Reduction::add, 0x3e00, 0x4080), 0x4380);  // 1.5 + 2.25
  EXPECT_EQ(of_f16(Reduction::add, 0x6801, 0x3c00), 0x6802);  // 2050 + 1: a tie, up to 2052
  EXPECT_EQ(of_f16(Reduction::add, 0x6800, 0x3c00), 0x6800);  // 2048 + 1: a tie, down
  EXPECT_EQ(of_first<std::uint16_t>(Reduction::add, DataType::bf16, 0x4500, 0x3f80), 0x4500);
  EXPECT_EQ(of_f32(0x3f800000, 0x33800000), 0x3f800000U);  // 1 + 2^-24: a tie, down
  EXPECT_EQ(of_f32(0x3f800001, 0x33800000), 0x3f800002U);  // and up
}

TEST(ReduceChunk, SumsKeepSubnormals) {
  EXPECT_EQ(of_f16(Reduction::add, 0x0003, 0x0005), 0x0008);
  EXPECT_EQ(of_f16(Reduction::add, 0x0400, 0x8401), 0x8001);
  EXPECT_EQ(of_f16(Reduction::add, 0x0200, 0x0200), 0x0400);
  EXPECT_EQ(of_f32(0x000116c2, 0x000116c2), 0x00022d84U);
}

TEST(ReduceChunk, SumsOverflowToInfinity) {
  EXPECT_EQ(of_f16(Reduction::add, 0x7bff, 0x7bff), 0x7c00);
  EXPECT_EQ(of_f16(Reduction::add, 0xfbff, 0xfbff), 0xfc00);
}

TEST(ReduceChunk, SumsHaveOneNaN) {
  EXPECT_EQ(of_f16(Reduction::add, 0x3c00, 0x7d55), 0x7fff);
  EXPECT_EQ(of_f16(Reduction::add, 0x7c00, 0xfc00), 0x7fff);
  EXPECT_EQ(of_f32(0x7f800000, 0xff800000), 0x7fffffffU);
}

TEST(ReduceChunk, SumsOfZerosHaveASign) {
  EXPECT_EQ(of_f16(Reduction::add, 0x0000, 0x8000), 0x0000);
  EXPECT_EQ(of_f16(Reduction::add, 0x8000, 0x8000), 0x8000);
}

TEST(ReduceChunk, LeastAndGreatestOfFloatsPassOverNaNAndKnowTheSignOfZero) {
  EXPECT_EQ(of_f16(Reduction::min, 0xc000, 0xc500), 0xc500);
  EXPECT_EQ(of_f16(Reduction::max, 0xc000, 0xc500), 0xc000);
  EXPECT_EQ(of_f16(Reduction::min, 0x7e01, 0x3c00), 0x3c00);
  EXPECT_EQ(of_f16(Reduction::max, 0x3c00, 0x7d55), 0x3c00);
  EXPECT_EQ(of_f16(Reduction::min, 0x0000, 0x8000), 0x8000);
  EXPECT_EQ(of_f16(Reduction::max, 0x0000, 0x8000), 0x0000);
  EXPECT_EQ(of_f16(Reduction::max, 0x8000, 0x8000), 0x8000);
}

TEST(ReduceChunk, TakesEachElementOfSixteenBytes) {
  std::array<std::uint32_t, 4> to{1, 2, 3, 4};
  const std::array<std::uint32_t, 4> from{10, 20, 30, 40};
  reduce_chunk(Reduction::add, DataType::u32, reinterpret_cast<const std::uint8_t*>(from.data()),
               reinterpret_cast<std::uint8_t*>(to.data()));
  EXPECT_EQ(to, (std::array<std::uint32_t, 4>{11, 22, 33, 44}));
}

TEST(ReduceChunk, RefusesTypesThatTheDocumentsDoNotAllow) {
  EXPECT_THROW(of_first<std::int64_t>(Reduction::add, DataType::s64, 1, 1), Error);
  EXPECT_THROW(of_first<std::uint64_t>(Reduction::inc, DataType::u64, 1, 1), Error);
  EXPECT_THROW(of_first<std::uint16_t>(Reduction::add, DataType::u16, 1, 1), Error);
  EXPECT_THROW(of_first<std::uint32_t>(Reduction::min, DataType::f32, 1, 1), Error);
}

}  // namespace

}  // namespace tidemark
