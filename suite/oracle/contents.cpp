// What memory holds before a program changes it, and what ordinary accesses of threads and
// reductions make of it.
#include "suite/oracle/contents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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

// A plain loop over the elements of a chunk, written from the PTX ISA. Floating-point elements are
// taken as doubles: their 53 bits are more than twice those of the widest element, so that a sum
// rounded to a double first is rounded right.

namespace {

template <typename Element>
Element reduced(Reduction reduction, Element memory, Element comes) {
  using Bits = std::make_unsigned_t<Element>;  // sums wrap, as two's complement does
  const auto a = static_cast<Bits>(memory), b = static_cast<Bits>(comes);
  switch (reduction) {
    case Reduction::none:
      return comes;
    case Reduction::add:
      return static_cast<Element>(a + b);
    case Reduction::min:
      return std::min(memory, comes);
    case Reduction::max:
      return std::max(memory, comes);
    case Reduction::inc:
      return memory >= comes ? Element{0} : static_cast<Element>(a + 1);
    case Reduction::dec:
      return memory == 0 || memory > comes ? comes : static_cast<Element>(a - 1);
    case Reduction::bit_and:
      return static_cast<Element>(a & b);
    case Reduction::bit_or:
      return static_cast<Element>(a | b);
    case Reduction::bit_xor:
      return static_cast<Element>(a ^ b);
  }
  return comes;
}

template <typename Element>
void reduce_all(Reduction reduction, const std::uint8_t* from, std::uint8_t* to) {
  for (std::uint32_t at = 0; at < 16; at += sizeof(Element)) {
    Element memory, comes;
    std::memcpy(&memory, to + at, sizeof memory);
    std::memcpy(&comes, from + at, sizeof comes);
    memory = reduced(reduction, memory, comes);
    std::memcpy(to + at, &memory, sizeof memory);
  }
}

struct FloatFormat {
  std::uint32_t bytes;
  int mantissa, bias;
  std::uint32_t infinity;  // its bits: all of the exponent
};
constexpr FloatFormat kF16{2, 10, 15, 0x7c00}, kBf16{2, 7, 127, 0x7f80};
constexpr FloatFormat kF32{4, 23, 127, 0x7f800000};

double value_of(const FloatFormat& format, std::uint32_t bits) {
  const std::uint32_t sign = 1U << (8 * format.bytes - 1), magnitude = bits & ~sign;
  const std::uint32_t hidden = 1U << format.mantissa, fraction = magnitude & (hidden - 1);
  const int exponent = static_cast<int>(magnitude >> format.mantissa);
  double value = std::ldexp(hidden + fraction, exponent - format.bias - format.mantissa);
  if (exponent == 0) value = std::ldexp(fraction, 1 - format.bias - format.mantissa);
  if (magnitude == format.infinity) value = std::numeric_limits<double>::infinity();
  if (magnitude > format.infinity) return std::numeric_limits<double>::quiet_NaN();
  return (bits & sign) != 0 ? -value : value;
}

// Rounded to the nearest, ties to even; subnormals are kept, and there is one NaN (PTX
// ISA 9.0, 5.2.3 and 9.7.4).
std::uint32_t bits_of(const FloatFormat& format, double value) {
  const std::uint32_t sign = 1U << (8 * format.bytes - 1);
  if (std::isnan(value)) return sign - 1;
  const std::uint32_t negative = std::signbit(value) ? sign : 0;
  const double size = std::abs(value);
  if (std::isinf(value) || size == 0) return negative | (size == 0 ? 0 : format.infinity);
  const int exponent = std::max(std::ilogb(size), 1 - format.bias);
  // The last bit counts 2^(exponent - mantissa). Rounding up to the next power of two carries into
  // the exponent, and from the greatest number to infinity.
  const auto units =
      static_cast<std::uint64_t>(std::nearbyint(std::ldexp(size, format.mantissa - exponent)));
  const std::uint64_t below = std::uint64_t(exponent + format.bias - 1) << format.mantissa;
  return negative |
         static_cast<std::uint32_t>(std::min<std::uint64_t>(below + units, format.infinity));
}

// Of a number and a NaN the number is left, and -0 is less than +0: PTX ISA 9.0, 9.7.4 min, max.
double lesser(double a, double b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  return a < b || (a == b && std::signbit(a)) ? a : b;
}

double reduced_number(Reduction reduction, double memory, double comes) {
  if (reduction == Reduction::min) return lesser(memory, comes);
  if (reduction == Reduction::max) return -lesser(-memory, -comes);
  return memory + comes;
}

void reduce_all_numbers(Reduction reduction, const FloatFormat& format, const std::uint8_t* from,
                        std::uint8_t* to) {
  for (std::uint32_t at = 0; at < 16; at += format.bytes) {
    std::uint32_t memory = 0, comes = 0;
    std::memcpy(&memory, to + at, format.bytes);
    std::memcpy(&comes, from + at, format.bytes);
    memory = bits_of(format,
                     reduced_number(reduction, value_of(format, memory), value_of(format, comes)));
    std::memcpy(to + at, &memory, format.bytes);
  }
}

}  // namespace

void reduce_chunk(Reduction reduction, DataType type, const std::uint8_t* from, std::uint8_t* to) {
  if (!reduces(reduction, type))
    throw Error(fmt::format("store: reduction {} of {} has no prediction",
                            static_cast<int>(reduction), name_of(type)));
  if (type == DataType::u32) reduce_all<std::uint32_t>(reduction, from, to);
  if (type == DataType::s32) reduce_all<std::int32_t>(reduction, from, to);
  if (type == DataType::u64) reduce_all<std::uint64_t>(reduction, from, to);
  if (type == DataType::s64) reduce_all<std::int64_t>(reduction, from, to);
  if (type == DataType::f16) reduce_all_numbers(reduction, kF16, from, to);
  if (type == DataType::bf16) reduce_all_numbers(reduction, kBf16, from, to);
  if (type == DataType::f32) reduce_all_numbers(reduction, kF32, from, to);
}

}  // namespace tidemark
