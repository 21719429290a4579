// What memory holds before a program changes it, and what ordinary accesses of threads make of it.
#include "suite/oracle/contents.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/error.hpp"
#include "suite/oracle/place.hpp"

namespace tidemark {

// Fills regions for the oracle.

namespace {

Poison make_poison(bool inverted) {
  Poison poison;
  for (std::uint32_t i = 0; i < kPoisonPeriod; ++i)
    poison[i] = poison_byte({.seed = 0, .inverted = inverted}, i);
  return poison;
}

}  // namespace

const Poison& poison_of(bool inverted) {
  static const Poison plain = make_poison(false), flipped = make_poison(true);
  return inverted ? flipped : plain;
}

std::vector<std::uint8_t> contents(const Program& program, const Region& region) {
  std::vector<std::uint8_t> bytes(region.bytes);
  if (region.poison) {
    const Poison& poison = poison_of(program.payload.inverted);
    for (std::uint64_t at = 0; at < bytes.size(); at += kPoisonPeriod)
      std::memcpy(&bytes[at], poison.data(),
                  std::min<std::uint64_t>(kPoisonPeriod, bytes.size() - at));
    return bytes;
  }
  if (region.element < DataType::f32_ftz &&
      region.numbers == Numbers::hash) {  // the plain hash, 8 bytes at a time
    for (std::uint64_t i = 0; i < bytes.size() / 8; ++i) {
      const std::uint64_t word = source_word(program.payload, i);
      std::memcpy(&bytes[8 * i], &word, 8);
    }
    return bytes;
  }
  for (std::uint64_t i = 0; i < bytes.size() / 4; ++i) {
    const std::uint32_t word = region_word(program.payload, region.element, region.numbers, i);
    std::memcpy(&bytes[4 * i], &word, 4);
  }
  return bytes;
}

// Asks for each place of the tile which element stands there.

namespace {

constexpr std::uint32_t kElement = 4;

std::uint32_t sum_of(DataType type, std::uint32_t bits, std::uint32_t amount) {
  if (type != DataType::f32) return bits + amount;
  constexpr float kExact = 1U << 23;  // up to it all whole numbers and their sums are floats
  float number = 0;
  std::memcpy(&number, &bits, kElement);
  const bool whole = std::trunc(number) == number;
  if (!whole || !(std::abs(number) <= kExact) || amount > static_cast<std::uint32_t>(kExact))
    throw Error(
        "program: an add to f32 elements that are no whole numbers of up to 2^23 is rounded; fill "
        "the region with small or counting numbers");
  number += static_cast<float>(amount);
  std::memcpy(&bits, &number, kElement);
  return bits;
}

}  // namespace

void add_to_tile(const TileLoad& tile, const Step& add, std::vector<std::uint8_t>& window) {
  const std::uint32_t begin = tile_start(tile), end = begin + tile_span(tile.map);
  for (std::uint32_t place = begin; place < end; place += kElement) {
    const std::uint32_t index = unswizzled_byte(tile, place) / kElement;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &window[place], kElement);
    bits = sum_of(tile.map.type, bits, add.count + index * add.stride);
    std::memcpy(&window[place], &bits, kElement);
  }
}

}  // namespace tidemark
