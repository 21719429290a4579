// What memory holds before an operation runs: sources are a hash of seed and address, destinations
// are poison by address. Every party can say which byte stood where without storing it.
#pragma once

#include <cstdint>

namespace tidemark::kernels {

/// Mixes 64 bits so that every input bit reaches every output bit.
/// Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Chooses the bytes a row finds in memory. Each row runs twice, the second time `inverted`: every
/// source and poison bit is flipped, so a byte that was never written cannot agree twice by chance.
struct Payload {
  std::uint64_t seed = 0;
  bool inverted = false;

  friend bool operator==(const Payload&, const Payload&) = default;
};

/// Word `index` (8 bytes, little endian) of a source allocation.
constexpr std::uint64_t source_word(const Payload& payload, std::uint64_t index) {
  const std::uint64_t word = splitmix64(payload.seed + 0x2545f4914f6cdd1dULL * (index + 1));
  return payload.inverted ? ~word : word;
}

/// Byte `offset` of a source allocation.
constexpr std::uint8_t source_byte(const Payload& payload, std::uint64_t offset) {
  return static_cast<std::uint8_t>(source_word(payload, offset / 8) >> (8 * (offset % 8)));
}

/// Byte `offset` of a destination (guards included) before the operation writes it.
constexpr std::uint8_t poison_byte(const Payload& payload, std::uint64_t offset) {
  const auto byte = static_cast<std::uint8_t>(0xa5U ^ (offset & 0xffU) ^ ((offset >> 8) & 0xffU));
  return payload.inverted ? static_cast<std::uint8_t>(~byte) : byte;
}

/// Guard bytes on either side of every destination; the shared window starts on 1024 bytes so that
/// an offset inside it has the swizzle phase of the address.
inline constexpr std::uint32_t kGuardBytes = 1024;

}  // namespace tidemark::kernels
