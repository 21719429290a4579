// What source memory holds, by address: the payload of any byte and element.
#include "kernels/ops/payload.hpp"

#include <gtest/gtest.h>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "kernels/ops/tile_load.hpp"

namespace tidemark {
namespace {

std::vector<std::uint8_t> source_bytes(const Payload& payload, std::uint64_t bytes) {
  std::vector<std::uint8_t> source(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) source[i] = source_byte(payload, i);
  return source;
}

TEST(Payload, EveryDisplacementUpTo4096ShowsInA16KiBWindow) {
  const std::vector<std::uint8_t> source = source_bytes({.seed = 7}, 16384 + 4096);
  for (std::size_t displacement = 1; displacement <= 4096; ++displacement) {
    std::size_t equal = 0;
    for (std::size_t i = 0; i < 16384; ++i) equal += source[i] == source[i + displacement] ? 1 : 0;
    EXPECT_LT(equal, 16384U / 32) << "displacement " << displacement;  // by chance: 1 in 256
  }
}

TEST(Payload, No16ByteChunkOccursTwiceIn1MiB) {
  const std::vector<std::uint8_t> source = source_bytes({.seed = 7}, 1U << 20);
  std::set<std::array<std::uint8_t, 16>> seen;
  for (std::size_t i = 0; i < source.size(); i += 16) {
    std::array<std::uint8_t, 16> chunk{};
    std::copy_n(&source[i], 16, chunk.begin());
    EXPECT_TRUE(seen.insert(chunk).second) << "chunk at " << i;
  }
}

TEST(Payload, InvertedFlipsEverySourceBit) {
  for (std::uint64_t i = 0; i < 16384; ++i)
    EXPECT_EQ(source_byte({.seed = 3}, i) ^ source_byte({.seed = 3, .inverted = true}, i), 0xff);
}

TEST(Payload, InvertedFlipsEveryPoisonBit) {
  for (std::uint64_t i = 0; i < 16384; ++i)
    EXPECT_EQ(poison_byte({.seed = 3}, i) ^ poison_byte({.seed = 3, .inverted = true}, i), 0xff);
}

TEST(Payload, OtherSeedsGiveOtherBytes) {
  EXPECT_NE(source_bytes({.seed = 1}, 64), source_bytes({.seed = 2}, 64));
}

TEST(Payload, PoisonOfNeighbouringChunksDiffers) {
  for (std::uint64_t i = 0; i + 16 < 16384; ++i)
    EXPECT_NE(poison_byte({}, i), poison_byte({}, i + 16)) << i;
}

TEST(SourceElement, PlainTypesHoldTheHashAsItIs) {
  TileLoad load;
  load.map.type = DataType::f32;
  load.payload.seed = 9;
  EXPECT_EQ(source_element_word(load, 4), static_cast<std::uint32_t>(source_word({.seed = 9}, 2)));
  EXPECT_EQ(source_element_word(load, 5),
            static_cast<std::uint32_t>(source_word({.seed = 9}, 2) >> 32));
}

TEST(SourceElement, ConvertedTypesHoldNormalNumbersOfTenMantissaBits) {
  TileLoad load;
  load.map.type = DataType::tf32;
  for (std::uint64_t i = 0; i < 4096; ++i) {
    const std::uint32_t word = source_element_word(load, i);
    EXPECT_EQ(word & 0x1fffU, 0U);
    EXPECT_NE(word >> 23 & 0xffU, 0U);
    EXPECT_NE(word >> 23 & 0xffU, 255U);
  }
}

}  // namespace

}  // namespace tidemark
