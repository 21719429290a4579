// What source memory holds, by address: the payload of any byte and element.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/ops/gemm/mma_element.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

// What memory holds before an operation runs: sources are a hash of seed and address, destinations
// are poison by address. Every party can say which byte stood where without storing it.

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

// What the elements of a source hold, so that no data type converts them on their way.

/// 32-bit word `index` of a source of `type`. The types that a copy may convert (f32_ftz, tf32,
/// tf32_ftz) hold only normal numbers that every documented rounding keeps as they are: neither
/// subnormal nor infinite, and for tf32 with ten mantissa bits, so that for these types the
/// inverted payload does not flip every bit. All other types hold the plain hash, NaN patterns
/// included.
constexpr std::uint32_t source_element_word(const Payload& payload, DataType type,
                                            std::uint64_t index) {
  auto word = static_cast<std::uint32_t>(source_word(payload, index / 2) >> (32 * (index % 2)));
  if (type >= DataType::f32_ftz) {
    const std::uint32_t exponent = (word >> 23) % 253 + 1;  // 1..253
    const std::uint32_t mantissa = type == DataType::f32_ftz ? 0x7fffffU : 0x7fe000U;
    word = (word & (0x80000000U | mantissa)) | (exponent << 23);
  }
  return word;
}

/// What the elements of a source are.
enum class Numbers : std::uint8_t {
  hash,      // source_element_word()
  small,     // hashed, of 0..4095 in the element type (u32, s32, f32): sums of them are exact
  counting,  // element i behind the guard is i modulo 4096, in the element type (the same)
  // integer_of() the hash of each element, in the order of MmaType: products and sums are exact.
  integers_f16,
  integers_bf16,
  integers_tf32,
  integers_e4m3,
  integers_e5m2,
  integers_s8,
  integers_u8,
};

constexpr Numbers integers_in(MmaType type) {
  return static_cast<Numbers>(static_cast<std::uint32_t>(Numbers::integers_f16) +
                              static_cast<std::uint32_t>(type));
}
static_assert(integers_in(MmaType::u8) == Numbers::integers_u8);

/// The type of integers_*.
constexpr MmaType mma_type(Numbers numbers) {
  return static_cast<MmaType>(static_cast<std::uint32_t>(numbers) -
                              static_cast<std::uint32_t>(Numbers::integers_f16));
}

/// Whether a source of `type` can hold `numbers`.
constexpr bool can_hold(DataType type, Numbers numbers) {
  if (numbers >= Numbers::integers_f16) return type == data_type(mma_type(numbers));
  return numbers == Numbers::hash || type == DataType::u32 || type == DataType::s32 ||
         type == DataType::f32;
}

/// 32-bit word `index` of a source allocation, guard included.
constexpr std::uint32_t region_word(const Payload& payload, DataType type, Numbers numbers,
                                    std::uint64_t index) {
  if (numbers >= Numbers::integers_f16) {
    const MmaType mma = mma_type(numbers);
    const std::uint32_t hash = source_element_word(payload, DataType::u8, index);
    std::uint32_t word = 0;
    for (std::uint32_t bit = 0; bit < 32; bit += 8 * element_bytes(mma))
      word |= bits_of(mma, integer_of(mma, hash >> bit)) << bit;
    return word;
  }
  const std::uint32_t hash = source_element_word(payload, type, index);
  if (numbers == Numbers::hash) return hash;
  constexpr std::uint32_t kLargest = 4095;
  std::uint32_t number = hash & kLargest;
  if (numbers == Numbers::counting) {
    number = static_cast<std::uint32_t>(index - kGuardBytes / 4) & kLargest;
    if (payload.inverted) number ^= kLargest;
  }
  return type == DataType::f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(number)) : number;
}

}  // namespace tidemark
