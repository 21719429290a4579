// Fills regions for the oracle.
#include "suite/oracle/contents.hpp"

#include <algorithm>
#include <cstring>

namespace tidemark::suite {
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

std::vector<std::uint8_t> contents(const Program& program, const kernels::Region& region) {
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

}  // namespace tidemark::suite
