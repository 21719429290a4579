// Integer elements as numbers of 64 bits: signed ones biased, so that one comparison serves all.
// Floating-point ones are added as floats, whose 24 bits are enough for the sums of two f16 or bf16
// to be rounded right from them.
#include "kernels/virtual/copies/reduction.hpp"

#include <bit>
#include <cmath>

#include "kernels/virtual/copies/faults/tile_store_faults.hpp"

namespace tidemark::kernels {
namespace {

using Bytes = std::array<std::uint8_t, kChunkBytes>;

std::uint64_t element_at(const Bytes& bytes, std::uint32_t at, std::uint32_t size) {
  std::uint64_t value = 0;
  for (std::uint32_t i = size; i > 0; --i) value = value << 8 | bytes[at + i - 1];
  return value;
}

void put(Bytes& bytes, std::uint32_t at, std::uint32_t size, std::uint64_t value) {
  for (std::uint32_t i = 0; i < size; ++i)
    bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

bool is_signed(DataType type, Fault fault) {
  if (fault == kFaultReduceSignedAsUnsigned) return false;
  if (fault == kFaultReduceUnsignedAsSigned) return true;
  return type == DataType::s32 || type == DataType::s64;
}

std::uint64_t sum(std::uint64_t a, std::uint64_t b, std::uint32_t size, Fault fault) {
  constexpr std::uint64_t kLow = 0xffffffffU;
  if (fault == kFaultReduceCarryLost && size == 8)
    return (((a & kLow) + (b & kLow)) & kLow) | ((a >> 32) + (b >> 32)) << 32;
  return a + b;
}

float float_of(DataType type, std::uint64_t bits, Fault fault) {
  if (type == DataType::f32) return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (type == DataType::bf16) return std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16));
  const std::uint64_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  float value = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                              : std::ldexp(1024 + static_cast<float>(fraction),
                                           static_cast<int>(exponent) - 25);
  if (exponent == 0 && fault == kFaultReduceSubnormalFlushed) value = 0;
  if (exponent == 0x1f) value = fraction == 0 ? HUGE_VALF : NAN;
  return (bits & 0x8000) != 0 ? -value : value;
}

// Drops the lowest `bits` bits, to the nearest, ties to even.
std::uint32_t without_bits(std::uint32_t value, int bits, Fault fault) {
  const std::uint32_t half = 1U << (bits - 1), odd = value >> bits & 1U;
  return (value + (fault == kFaultReduceSumTruncated ? 0 : half - 1 + odd)) >> bits;
}

std::uint64_t bits_of(DataType type, float value, Fault fault) {
  auto bits = std::bit_cast<std::uint32_t>(value);
  if (type == DataType::f32) return std::isnan(value) ? 0x7fffffff : bits;
  if (std::isnan(value)) return 0x7fff;
  if (type == DataType::bf16) return without_bits(bits, 16, fault);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  constexpr std::uint32_t kLeastNormal = 113U << 23;  // 2^-14
  constexpr std::uint32_t kBeyond = 143U << 23;       // 2^16
  if (bits >= kBeyond) return sign | 0x7c00;
  if (bits < kLeastNormal)  // whole numbers of 2^-24, of which sums of two f16 are
    return sign | static_cast<std::uint32_t>(std::ldexp(std::abs(value), 24));
  return sign | without_bits(bits - (112U << 23), 13, fault);
}

std::uint64_t reduced_number(Reduction reduction, DataType type, std::uint64_t memory,
                             std::uint64_t comes, Fault fault) {
  if (type == DataType::f16 && fault == kFaultReduceHalfAsBfloat) type = DataType::bf16;
  const float a = float_of(type, memory, fault), b = float_of(type, comes, fault);
  if (reduction == Reduction::add) {
    if (std::isnan(a) && fault == kFaultReduceNanKept) return memory;
    return bits_of(type, a + b, fault);
  }
  const bool nan_wins = fault == kFaultReduceNanWins;
  if (std::isnan(a) && std::isnan(b)) return bits_of(type, a, fault);
  if (std::isnan(a)) return nan_wins ? bits_of(type, a, fault) : comes;
  if (std::isnan(b)) return nan_wins ? bits_of(type, b, fault) : memory;
  const bool less = a < b || (a == b && std::signbit(a));
  const bool takes_less = reduction == Reduction::min && fault != kFaultReduceMinAsMax;
  return less == takes_less ? memory : comes;
}

std::uint64_t reduced_element(Reduction reduction, DataType type, std::uint64_t memory,
                              std::uint64_t comes, Fault fault) {
  if (is_floating(type)) return reduced_number(reduction, type, memory, comes, fault);
  const std::uint32_t size = element_bytes(type);
  const std::uint64_t bias = is_signed(type, fault) ? std::uint64_t{1} << (8 * size - 1) : 0;
  const bool less = (memory ^ bias) < (comes ^ bias);
  switch (reduction) {
    case Reduction::none:
      return comes;
    case Reduction::add:
      return sum(memory, comes, size, fault);
    case Reduction::min:
      return less != (fault == kFaultReduceMinAsMax) ? memory : comes;
    case Reduction::max:
      return less ? comes : memory;
    case Reduction::inc:
      if (fault == kFaultReduceIncUnbounded) return memory + 1;
      return less ? memory + 1 : 0;
    case Reduction::dec:
      if (fault == kFaultReduceDecUnbounded) return memory - 1;
      return memory == 0 || memory > comes ? comes : memory - 1;
    case Reduction::bit_and:
      return memory & comes;
    case Reduction::bit_or:
      return memory | comes;
    case Reduction::bit_xor:
      return fault == kFaultReduceXorAsOr ? memory | comes : memory ^ comes;
  }
  return comes;
}

}  // namespace

Bytes reduced(Reduction reduction, DataType type, const Bytes& memory, const Bytes& comes,
              Fault fault) {
  if (reduction == Reduction::none || fault == kFaultReduceStores) return comes;
  Bytes made{};
  const std::uint32_t size = element_bytes(type);
  for (std::uint32_t at = 0; at < kChunkBytes; at += size)
    put(made, at, size,
        reduced_element(reduction, type, element_at(memory, at, size), element_at(comes, at, size),
                        fault));
  return made;
}

}  // namespace tidemark::kernels
