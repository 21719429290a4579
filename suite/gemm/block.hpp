// Reads the block of C that a device handed back, and describes what is wrong in it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

constexpr std::uint64_t element_bytes(GemmOutput output) {
  return output == GemmOutput::f32 ? 4 : 2;  // bf16 and f16
}

/// Where the bytes of row `row` start, counted inside the block.
inline const std::uint8_t* row_bytes(const Gemm& gemm, const RunResult& result, std::uint64_t row) {
  return result.bytes.data() + row * gemm.cols.count * element_bytes(gemm.output);
}

/// Bits of element (row, col), counted inside the block.
inline std::uint32_t element_bits(const Gemm& gemm, const RunResult& result, std::uint64_t row,
                                  std::uint64_t col) {
  const std::uint64_t size = element_bytes(gemm.output);
  std::uint32_t bits = 0;  // little endian: two bytes of bf16 land in the low half
  std::memcpy(&bits, result.bytes.data() + (row * gemm.cols.count + col) * size, size);
  return bits;
}

/// The number behind the bits of an element; exact.
constexpr double element_value(GemmOutput output, std::uint32_t bits) {
  if (output == GemmOutput::f32) return std::bit_cast<float>(bits);
  const auto half = static_cast<std::uint16_t>(bits);
  return output == GemmOutput::bf16 ? from_bf16(half) : from_f16(half);
}

/// `value` in the output type, rounded to nearest even from fp32.
constexpr std::uint32_t element_of(GemmOutput output, float value) {
  if (output == GemmOutput::f32) return std::bit_cast<std::uint32_t>(value);
  return output == GemmOutput::bf16 ? to_bf16(value) : to_f16(value);
}

/// Equal bits, or zeros of either sign: a sum that vanishes has no sign to promise.
constexpr bool same_element(GemmOutput output, std::uint32_t left, std::uint32_t right) {
  const std::uint32_t magnitude = output == GemmOutput::f32 ? 0x7fffffffU : 0x7fffU;
  return left == right || ((left | right) & magnitude) == 0;
}

/// Wrong elements of a block: the first in row-major order, how many, and where all of them lie.
/// Rows and columns count inside the block.
struct WrongElements {
  std::uint64_t count = 0;
  std::uint64_t row = 0, col = 0;          // of the first
  std::uint32_t expected = 0, actual = 0;  // bits of the first
  std::uint64_t row_min = 0, row_max = 0, col_min = 0, col_max = 0;

  void add(std::uint64_t at_row, std::uint64_t at_col, std::uint32_t expected_bits,
           std::uint32_t actual_bits);
  void add(const WrongElements& other);
};

/// "12 (0x41400000)".
std::string element_text(GemmOutput output, std::uint32_t bits);

/// One miscompare for all of `wrong`: coordinates in the whole C, offsets in the block. `text` goes
/// in front of where they lie.
Miscompare miscompare_of(const Gemm& gemm, const WrongElements& wrong, std::uint32_t row_index,
                         const std::string& text);

/// The same with the usual text: first element, expected, actual.
Miscompare miscompare_of(const Gemm& gemm, const WrongElements& wrong, std::uint32_t row_index);

}  // namespace tidemark
