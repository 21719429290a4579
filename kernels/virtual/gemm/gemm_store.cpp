// Blends, rounds and stores sums, as the faults of storing have it.
#include "kernels/virtual/gemm/gemm_store.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/virtual/gemm/gemm_faults.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint64_t kCorner = 8;  // edge of the block that kFaultGemmTransposed turns

float read_element(const GemmBlock& c, std::uint64_t row, std::uint64_t col) {
  const std::uint8_t* const from = c.bytes.data() + c.offset_of(row, col);
  if (c.output == GemmOutput::f32) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return c.output == GemmOutput::bf16 ? from_bf16(bits) : from_f16(bits);
}

/// alpha sum + beta C.
float blended(const GemmBlock& c, std::uint64_t row, std::uint64_t col, float sum, Fault fault) {
  const float alpha = fault == kFaultGemmAlphaIgnored ? 1.0F : c.alpha;
  const bool reads = c.beta != 0 || fault == kFaultGemmUnusedRead;
  if (!reads || fault == kFaultGemmBetaIgnored) return alpha * sum;
  const float old = read_element(c, row, col);
  if (fault == kFaultGemmAlphaTwice) return alpha * (sum + c.beta * old);
  return std::fma(c.beta, old, alpha * sum);
}

std::uint16_t narrowed(GemmOutput output, float value, Fault fault) {
  const bool cut = fault == kFaultGemmTruncated;
  if (output == GemmOutput::bf16) {
    if (std::isnan(value)) return 0x7fc0;
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    return cut ? upper : to_bf16(value);
  }
  const std::uint16_t nearest = to_f16(value);
  const bool away = std::abs(from_f16(nearest)) > std::abs(value);
  return static_cast<std::uint16_t>(cut && away ? nearest - 1 : nearest);
}

/// The largest finite number.
float largest(GemmOutput output) {
  if (output == GemmOutput::f32) return std::numeric_limits<float>::max();
  return output == GemmOutput::bf16 ? from_bf16(0x7f7f) : from_f16(0x7bff);
}

}  // namespace

void store_element(const GemmBlock& c, std::uint64_t row, std::uint64_t col, float sum,
                   Fault fault) {
  float value = blended(c, row, col, sum, fault);
  std::uint8_t* to = c.bytes.data() + c.offset_of(row, col);
  if (fault == kFaultGemmPackedC)
    to = c.bytes.data() + kGuardBytes + row * std::min(c.pitch(), c_row_pitch(c.cols, c.output)) +
         col * c_element_bytes(c.output);
  if (fault == kFaultGemmCRowCut) to -= row * c.pitch() % 16;
  const bool middle = row == c.rows / 2 && col == c.cols / 2;
  const std::uint32_t ulp = fault == kFaultGemmUlp && middle ? 1 : 0;
  if (fault == kFaultGemmOffByOne && middle) value += 1.0F;
  if (fault == kFaultGemmInfinityUnsigned && std::isinf(value)) value = std::abs(value);
  if (fault == kFaultGemmInfinitySaturated && std::isinf(value))
    value = std::copysign(largest(c.output), value);
  if (c.output == GemmOutput::f32) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) + ulp;
    std::memcpy(to, &bits, sizeof bits);
    return;
  }
  const auto bits = static_cast<std::uint16_t>(narrowed(c.output, value, fault) + ulp);
  std::memcpy(to, &bits, sizeof bits);
}

void store_tile(const GemmBlock& c, std::uint64_t row, std::uint64_t col, GemmSums& sums,
                Fault fault) {
  const std::uint64_t rows = std::min(kGemmTile, c.rows - row);
  std::uint64_t cols = std::min(kGemmTile, c.cols - col);
  if (fault == kFaultGemmTransposed && row == c.rows / kGemmTile * kGemmTile - kGemmTile &&
      col == c.cols / kGemmTile * kGemmTile - kGemmTile)
    for (std::uint64_t i = 0; i < kCorner; ++i)
      for (std::uint64_t j = 0; j < i; ++j) std::swap(sums[i][j], sums[j][i]);
  if (fault == kFaultGemmOddColumn) cols = cols / 2 * 2;
  if (fault == kFaultGemmNanSpread)
    for (std::uint64_t i = 0; i < rows; ++i)
      for (std::uint64_t j = cols; j-- > 1;)
        if (std::isnan(sums[i][j - 1])) sums[i][j] = sums[i][j - 1];
  for (std::uint64_t i = 0; i < rows; ++i)
    for (std::uint64_t j = 0; j < cols; ++j) store_element(c, row + i, col + j, sums[i][j], fault);
}

void store_outside(const GemmBlock& c, Fault fault) {
  if (c.rows == 0 || c.cols == 0) return;
  const auto clear_element = [&c](std::uint64_t row, std::uint64_t col) {
    std::fill_n(c.bytes.data() + c.offset_of(row, col), c_element_bytes(c.output), std::uint8_t{0});
  };
  const auto clear_before = [&c](std::uint64_t row) {
    std::fill_n(c.bytes.data() + c.offset_of(row, 0) - 2, 2, std::uint8_t{0});
  };
  if (fault == kFaultGemmFrontGuard) c.bytes[kGuardBytes - 1] = 0;
  if (fault == kFaultGemmBackGuard) clear_element(c.rows, 0);
  if (fault == kFaultGemmNeighbourWritten)
    for (std::uint64_t row = 0; row < c.rows; ++row)
      if (row * c.pitch() % 4 != 0) clear_before(row);
  if (fault == kFaultGemmPaddingWritten && c.pitch() > c.cols * c_element_bytes(c.output))
    clear_element(c.rows - 1, c.cols);
}

}  // namespace tidemark::kernels
