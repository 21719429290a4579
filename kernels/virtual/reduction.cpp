// Elements as numbers of 64 bits: signed ones biased, so that one comparison serves all types.
#include "kernels/virtual/reduction.hpp"

#include "kernels/virtual/tile_store_faults.hpp"

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

std::uint64_t reduced_element(Reduction reduction, DataType type, std::uint64_t memory,
                              std::uint64_t comes, Fault fault) {
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
