// alpha and beta of C = alpha A B + beta C.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "kernels/cuda/gemm/engine/engine.hpp"

namespace tidemark::kernels {

/// Two neighbours of one row of C, read as one access where both lie in it.
__device__ __forceinline__ float value_of(const float* c) { return *c; }
__device__ __forceinline__ float value_of(const __nv_bfloat16* c) { return __bfloat162float(*c); }
__device__ __forceinline__ float value_of(const __half* c) { return __half2float(*c); }
__device__ __forceinline__ float2 read_pair(const float* c, bool both) {
  return both ? *reinterpret_cast<const float2*>(c) : float2{*c, 0};
}
__device__ __forceinline__ float2 read_pair(const __nv_bfloat16* c, bool both) {
  return both ? __bfloat1622float2(*reinterpret_cast<const __nv_bfloat162*>(c))
              : float2{__bfloat162float(*c), 0};
}
__device__ __forceinline__ float2 read_pair(const __half* c, bool both) {
  return both ? __half22float2(*reinterpret_cast<const __half2*>(c)) : float2{__half2float(*c), 0};
}

/// sums = alpha sums + beta C, for the sums first ... first + count - 1 of 64 rows from `row0`,
/// whose sum 0 stands in column `column0`. C is not read where beta is 0: it may hold anything, NaN
/// included.
template <std::uint32_t first, std::uint32_t count, class Out, std::uint32_t kCount>
__device__ __forceinline__ void blend(float (&d)[kCount], const EngineProblem& p,
                                      std::uint32_t row0, std::uint32_t column0) {
#pragma unroll
  for (std::uint32_t i = first; i < first + count; ++i) d[i] *= p.alpha;
  if (p.beta == 0) return;
  const std::uint32_t thread = threadIdx.x % 128;
  const std::uint32_t row = row0 + thread / 32 * 16 + thread % 32 / 4;
  const std::uint32_t column = column0 + thread % 4 * 2;
  const Out* const upper = static_cast<const Out*>(p.c) + row * p.ldc + column;
  const Out* const lower = upper + 8 * p.ldc;
  const auto add = [&](std::uint32_t i, const Out* at, bool both) {
    // Pairs lie on their own size where rows of C start on 16 bytes: columns are even.
    if (p.c_by_tma) {
      const float2 c = read_pair(at, both);
      d[i] = fmaf(p.beta, c.x, d[i]);
      if (both) d[i + 1] = fmaf(p.beta, c.y, d[i + 1]);
    } else {
      d[i] = fmaf(p.beta, value_of(at), d[i]);
      if (both) d[i + 1] = fmaf(p.beta, value_of(at + 1), d[i + 1]);
    }
  };
#pragma unroll
  for (std::uint32_t i = first; i < first + count; i += 4) {
    const std::uint32_t at = column + 2 * i;
    const bool both = at + 1 < p.n;
    if (at < p.n && row < p.m) add(i, upper + 2 * i, both);
    if (at < p.n && row + 8 < p.m) add(i + 2, lower + 2 * i, both);
  }
}

}  // namespace tidemark::kernels
