// The chunks of a store, and what a reduction makes of them.
#include "kernels/virtual/copies/store_engine.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstring>

namespace tidemark {
namespace {

template <typename Bits>
Bits of_first(Reduction reduction, DataType type, Bits memory, Bits comes) {
  std::array<std::uint8_t, kChunkBytes> to{}, from{};
  std::memcpy(to.data(), &memory, sizeof memory);
  std::memcpy(from.data(), &comes, sizeof comes);
  to = reduced(reduction, type, to, from, {});
  std::memcpy(&memory, to.data(), sizeof memory);
  return memory;
}

std::uint16_t of_f16(Reduction reduction, std::uint16_t memory, std::uint16_t comes) {
  return of_first(reduction, DataType::f16, memory, comes);
}

std::uint16_t sum_of_bf16(std::uint16_t memory, std::uint16_t comes) {
  return of_first(Reduction::add, DataType::bf16, memory, comes);
}

TEST(VirtualReduction, SumsOfHalvesAreRounded) {
  EXPECT_EQ(of_f16(Reduction::add, 0x3e00, 0x4080), 0x4380);
  EXPECT_EQ(of_f16(Reduction::add, 0x6801, 0x3c00), 0x6802);
  EXPECT_EQ(of_f16(Reduction::add, 0x3c00, 0x1000), 0x3c00);
  EXPECT_EQ(of_f16(Reduction::add, 0x7bff, 0x7bff), 0x7c00);
}

TEST(VirtualReduction, SumsOfHalvesKeepSubnormals) {
  EXPECT_EQ(of_f16(Reduction::add, 0x0003, 0x0005), 0x0008);
  EXPECT_EQ(of_f16(Reduction::add, 0x0400, 0x8401), 0x8001);
  EXPECT_EQ(of_f16(Reduction::add, 0x0200, 0x0200), 0x0400);
}

TEST(VirtualReduction, SumsOfBfloatsAreRoundedAndKeepSubnormals) {
  EXPECT_EQ(sum_of_bf16(0x7149, 0x7149), 0x71c9);
  EXPECT_EQ(sum_of_bf16(0x4500, 0x3f80), 0x4500);
  EXPECT_EQ(sum_of_bf16(0x006c, 0x8077), 0x800b);
  EXPECT_EQ(sum_of_bf16(0x0040, 0x001f), 0x005f);
}

TEST(VirtualReduction, SumsWithNaNAreTheOneNaN) {
  EXPECT_EQ(of_f16(Reduction::add, 0x7e01, 0x3c00), 0x7fff);
  EXPECT_EQ(sum_of_bf16(0x7f80, 0xff80), 0x7fff);
  EXPECT_EQ(of_first<std::uint32_t>(Reduction::add, DataType::f32, 0x3f800000, 0x7fc00000),
            0x7fffffffU);
}

TEST(VirtualReduction, LeastAndGreatestPassOverNaNAndKnowTheSignOfZero) {
  EXPECT_EQ(of_f16(Reduction::min, 0x7e01, 0x3c00), 0x3c00);
  EXPECT_EQ(of_f16(Reduction::max, 0x3c00, 0x7d55), 0x3c00);
  EXPECT_EQ(of_f16(Reduction::min, 0x0000, 0x8000), 0x8000);
  EXPECT_EQ(of_f16(Reduction::max, 0x0000, 0x8000), 0x0000);
  EXPECT_EQ(of_f16(Reduction::min, 0x0400, 0x8401), 0x8401);
}

}  // namespace

}  // namespace tidemark
