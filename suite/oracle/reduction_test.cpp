// Reductions of single elements, with results worked out by hand.
#include "suite/oracle/reduction.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

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
