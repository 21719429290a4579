// Rung 1: threads copy, CUDA cores multiply. Each step of K is loaded into registers, converted,
// stored to shared memory and multiplied, one after the other: nothing overlaps but what other
// blocks on the SM do. What the article starts from.
#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/cuda/gemm/ladder/rung.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kTile = 128;     // rows and columns of C a block computes
constexpr std::uint32_t kDepth = 16;     // of k, per step
constexpr std::uint32_t kThreads = 256;  // 16 x 16
constexpr std::uint32_t kMicro = 8;      // a thread computes 8 x 8 elements, in four 4 x 4 patches
constexpr std::uint32_t kPad = 4;        // keeps float4 on 16 bytes, spreads the banks
constexpr std::uint32_t kVector = 8;     // bf16 elements a thread loads at once: 16 bytes

/// A step's part of A or B, k by k, as fp32.
struct Panel {
  alignas(16) float at[kDepth][kTile + kPad];
};

/// One matrix, K-major.
struct Matrix {
  const __nv_bfloat16* base;
  std::uint64_t pitch;
  std::uint32_t rows, k;
};

/// Loads rows first_row ... + 127 and k ... + 15; zeros outside of the matrix. A thread loads eight
/// neighbours of one row: `pitch` is a multiple of 8, so they never leave the row.
__device__ __forceinline__ void load_panel(Panel& panel, const Matrix& matrix,
                                           std::uint32_t first_row, std::uint32_t first_k) {
  const std::uint32_t row = threadIdx.x / 2;
  const std::uint32_t depth = threadIdx.x % 2 * kVector;
  const std::uint32_t k = first_k + depth;
  alignas(16) __nv_bfloat16 values[kVector] = {};
  if (first_row + row < matrix.rows && k < matrix.k)
    *reinterpret_cast<uint4*>(values) =
        *reinterpret_cast<const uint4*>(matrix.base + (first_row + row) * matrix.pitch + k);
#pragma unroll
  for (std::uint32_t i = 0; i < kVector; ++i)
    panel.at[depth + i][row] = k + i < matrix.k ? __bfloat162float(values[i]) : 0.0F;
}

/// The eight rows (or columns) of a thread in one k: four from `lane` on, four from 64 behind.
__device__ __forceinline__ void pick(float (&into)[kMicro], const float (&from)[kTile + kPad],
                                     std::uint32_t lane) {
  *reinterpret_cast<float4*>(&into[0]) = *reinterpret_cast<const float4*>(&from[lane * 4]);
  *reinterpret_cast<float4*>(&into[4]) =
      *reinterpret_cast<const float4*>(&from[kTile / 2 + lane * 4]);
}

__device__ __forceinline__ void multiply(float (&sum)[kMicro][kMicro], const Panel& a,
                                         const Panel& b, std::uint32_t lane_m,
                                         std::uint32_t lane_n) {
#pragma unroll
  for (std::uint32_t depth = 0; depth < kDepth; ++depth) {
    alignas(16) float left[kMicro];
    alignas(16) float right[kMicro];
    pick(left, a.at[depth], lane_m);
    pick(right, b.at[depth], lane_n);
#pragma unroll
    for (std::uint32_t i = 0; i < kMicro; ++i)
#pragma unroll
      for (std::uint32_t j = 0; j < kMicro; ++j) sum[i][j] = fmaf(left[i], right[j], sum[i][j]);
  }
}

__device__ __forceinline__ void store(float* c, float value) { *c = value; }
__device__ __forceinline__ void store(__nv_bfloat16* c, float value) {
  *c = __float2bfloat16_rn(value);
}

template <class Out>
__global__ void __launch_bounds__(kThreads)
    thread_copy(const __grid_constant__ CUtensorMap /*a_map*/,
                const __grid_constant__ CUtensorMap /*b_map*/,
                const __grid_constant__ CUtensorMap /*c_map*/, const RungProblem p) {
  __shared__ Panel a;
  __shared__ Panel b;
  const Matrix a_matrix{static_cast<const __nv_bfloat16*>(p.a), p.pitch, p.m, p.k};
  const Matrix b_matrix{static_cast<const __nv_bfloat16*>(p.b), p.pitch, p.n, p.k};
  const std::uint32_t first_row = blockIdx.x % p.m_tiles * kTile;
  const std::uint32_t first_column = blockIdx.x / p.m_tiles * kTile;
  const std::uint32_t lane_m = threadIdx.x / 16;
  const std::uint32_t lane_n = threadIdx.x % 16;

  float sum[kMicro][kMicro] = {};
  for (std::uint32_t k = 0; k < p.k; k += kDepth) {
    load_panel(a, a_matrix, first_row, k);
    load_panel(b, b_matrix, first_column, k);
    __syncthreads();  // without it a thread would read what others have not written yet
    multiply(sum, a, b, lane_m, lane_n);
    __syncthreads();  // without it the next step would overwrite what others still read
  }

#pragma unroll
  for (std::uint32_t i = 0; i < kMicro; ++i)
#pragma unroll
    for (std::uint32_t j = 0; j < kMicro; ++j) {
      const std::uint32_t row = first_row + i / 4 * (kTile / 2) + lane_m * 4 + i % 4;
      const std::uint32_t column = first_column + j / 4 * (kTile / 2) + lane_n * 4 + j % 4;
      if (row < p.m && column < p.n)
        store(static_cast<Out*>(p.c) + row * p.ldc + column, sum[i][j]);
    }
}

}  // namespace

RungKernel thread_copy_rung(GemmOutput output) {
  return {.kernel = output == GemmOutput::f32
                        ? reinterpret_cast<const void*>(&thread_copy<float>)
                        : reinterpret_cast<const void*>(&thread_copy<__nv_bfloat16>),
          .tile_m = kTile,
          .tile_n = kTile,
          .threads = kThreads};
}

}  // namespace tidemark
