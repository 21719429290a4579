// Products that are right, and what tests change in them, so that verification has something to
// complain about.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/device.hpp"

namespace tidemark {

inline Gemm whole(std::uint64_t m, std::uint64_t n, std::uint64_t k, GemmInputs inputs,
                  GemmOutput output = GemmOutput::f32) {
  Gemm gemm = whole_product({m, n, k}, inputs);
  gemm.output = output;
  gemm.seed = 77;
  return gemm;
}

inline Gemm integers(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return whole(m, n, k, GemmInputs::small_integers);
}

inline Gemm normals(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return whole(m, n, k, GemmInputs::normal);
}

inline RunResult right(const Gemm& gemm) {
  return make_device(DeviceKind::virtual_device)->run(gemm);
}

inline float f32_at(const RunResult& result, std::size_t index) {
  float value = 0;
  std::memcpy(&value, result.bytes.data() + 4 * index, sizeof value);
  return value;
}

inline void set_f32(RunResult& result, std::size_t index, float value) {
  std::memcpy(result.bytes.data() + 4 * index, &value, sizeof value);
}

inline std::uint16_t bf16_at(const RunResult& result, std::size_t index) {
  std::uint16_t bits = 0;
  std::memcpy(&bits, result.bytes.data() + 2 * index, sizeof bits);
  return bits;
}

inline void set_bf16(RunResult& result, std::size_t index, std::uint16_t bits) {
  std::memcpy(result.bytes.data() + 2 * index, &bits, sizeof bits);
}

/// Exchanges two rows of an fp32 block.
inline void swap_rows(RunResult& result, std::size_t cols, std::size_t a, std::size_t b) {
  for (std::size_t j = 0; j < cols; ++j) {
    const float kept = f32_at(result, a * cols + j);
    set_f32(result, a * cols + j, f32_at(result, b * cols + j));
    set_f32(result, b * cols + j, kept);
  }
}

/// A product over fewer k, in the place of one over `gemm.k`.
inline RunResult with_k(Gemm gemm, std::uint64_t k) {
  gemm.k = k;
  return right(gemm);
}

}  // namespace tidemark
