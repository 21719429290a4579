// What cp.reduce.async.bulk.tensor does with the element in memory and the one that comes.
#pragma once

#include <cstdint>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

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

/// Whether the order of several does not matter: sums of floating-point numbers are rounded one by
/// one, and which of two NaNs or zeros is left depends on who comes first.
constexpr bool commutes(Reduction reduction, DataType type) {
  return reduction != Reduction::none && reduction != Reduction::inc &&
         reduction != Reduction::dec && !is_floating(type);
}

/// Whether the documents give elements of `type` this reduction. Any other ends in CUDA error 715
/// on an H200, but for bitwise ones of s32, sums of f64, and what maps of f32_ftz and tf32 make of
/// sums.
constexpr bool reduces(Reduction reduction, DataType type) {
  const bool is_half = type == DataType::f16 || type == DataType::bf16;
  const bool is_unsigned = type == DataType::u32 || type == DataType::u64;
  const bool is_signed = type == DataType::s32 || type == DataType::s64;
  switch (reduction) {
    case Reduction::none:
      return false;
    case Reduction::add:
      return is_unsigned || type == DataType::s32 || is_half || type == DataType::f32;
    case Reduction::min:
    case Reduction::max:
      return is_unsigned || is_signed || is_half;
    case Reduction::inc:
    case Reduction::dec:
      return type == DataType::u32;
    case Reduction::bit_and:
    case Reduction::bit_or:
    case Reduction::bit_xor:
      return is_unsigned;  // b32 and b64
  }
  return false;
}

/// Whether elements of `type` have it in shared memory, by cp.reduce.async.bulk.shared::cluster or
/// red.async. PTX ISA 9.0, 9.7.9.25.4.2 and 9.7.13.7.
constexpr bool reduces_in_shared(Reduction reduction, DataType type) {
  if (type == DataType::u64) return reduction == Reduction::add;
  return (type == DataType::u32 || type == DataType::s32) && reduces(reduction, type);
}

}  // namespace tidemark
