// What cp.reduce.async.bulk.tensor does with the element in memory and the one that comes.
#pragma once

#include <cstdint>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark::kernels {

/// PTX ISA 9.0, 9.7.9.25.5.3. `none` is a plain store.
enum class Reduction : std::uint8_t {
  none,
  add,
  min,
  max,
  inc,  // 0 where the element in memory is at least the one that comes, else one more
  dec,  // the one that comes where memory holds 0 or more than it, else one less
  bit_and,
  bit_or,
  bit_xor,
};
inline constexpr std::uint32_t kReductions = 9;

/// Whether the order of several does not matter.
constexpr bool commutes(Reduction reduction) {
  return reduction != Reduction::none && reduction != Reduction::inc && reduction != Reduction::dec;
}

/// Whether elements of integer type `type` can be reduced so. Floating-point types are not
/// described yet: what their sums are rounded to is documented in part only.
constexpr bool reduces(Reduction reduction, DataType type) {
  const bool wide = type == DataType::u64 || type == DataType::s64;
  const bool is_signed = type == DataType::s32 || type == DataType::s64;
  if (!wide && type != DataType::u32 && type != DataType::s32) return false;
  switch (reduction) {
    case Reduction::none:
      return false;
    case Reduction::add:
      return type != DataType::s64;
    case Reduction::min:
    case Reduction::max:
      return true;
    case Reduction::inc:
    case Reduction::dec:
      return type == DataType::u32;
    case Reduction::bit_and:
    case Reduction::bit_or:
    case Reduction::bit_xor:
      return !is_signed;  // b32 and b64
  }
  return false;
}

}  // namespace tidemark::kernels
