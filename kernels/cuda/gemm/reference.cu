// C = A B^T as plainly as a GPU can do it in reasonable time: what the fast engine is held against.
// No TMA, no tensor cores, no asynchrony; every element is summed by one thread in order of k.
#include <cuda_bf16.h>

#include <cstdint>
#include <string>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/local_gemm.hpp"

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

/// Loads rows first_row ... + 127 and k ... + 15 of a K-major matrix; zeros outside of it. A thread
/// loads eight neighbours of one row: `pitch` is a multiple of 8, so they never leave the row.
__device__ void load_panel(Panel& panel, const __nv_bfloat16* matrix, std::uint64_t pitch,
                           std::uint64_t rows, std::uint64_t k_end, std::uint64_t first_row,
                           std::uint64_t first_k) {
  const std::uint32_t row = threadIdx.x / 2;
  const std::uint32_t depth = threadIdx.x % 2 * kVector;
  const std::uint64_t k = first_k + depth;
  alignas(16) __nv_bfloat16 values[kVector] = {};
  if (first_row + row < rows && k < k_end)
    *reinterpret_cast<uint4*>(values) =
        *reinterpret_cast<const uint4*>(matrix + (first_row + row) * pitch + k);
#pragma unroll
  for (std::uint32_t i = 0; i < kVector; ++i)
    panel.at[depth + i][row] = k + i < k_end ? __bfloat162float(values[i]) : 0.0F;
}

/// The eight rows (or columns) of a thread in one k: four from `lane` on, four from 64 behind.
__device__ void pick(float (&into)[kMicro], const float (&from)[kTile + kPad], std::uint32_t lane) {
  *reinterpret_cast<float4*>(&into[0]) = *reinterpret_cast<const float4*>(&from[lane * 4]);
  *reinterpret_cast<float4*>(&into[4]) =
      *reinterpret_cast<const float4*>(&from[kTile / 2 + lane * 4]);
}

__device__ void store(float* c, float value) { *c = value; }
__device__ void store(__nv_bfloat16* c, float value) { *c = __float2bfloat16_rn(value); }

template <class Out>
__global__ void __launch_bounds__(kThreads) reference(LocalGemm gemm) {
  __shared__ Panel a;
  __shared__ Panel b;
  const auto* a_matrix = reinterpret_cast<const __nv_bfloat16*>(gemm.a);
  const auto* b_matrix = reinterpret_cast<const __nv_bfloat16*>(gemm.b);
  const std::uint64_t first_row = std::uint64_t{blockIdx.y} * kTile;
  const std::uint64_t first_column = std::uint64_t{blockIdx.x} * kTile;
  const std::uint32_t lane_m = threadIdx.x / 16;
  const std::uint32_t lane_n = threadIdx.x % 16;

  float sum[kMicro][kMicro] = {};
  for (std::uint64_t k = 0; k < gemm.k; k += kDepth) {
    load_panel(a, a_matrix, gemm.pitch, gemm.m, gemm.k, first_row, k);
    load_panel(b, b_matrix, gemm.pitch, gemm.n, gemm.k, first_column, k);
    __syncthreads();  // without it a thread would read what others have not written yet
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
    __syncthreads();  // without it the next step would overwrite what others still read
  }

#pragma unroll
  for (std::uint32_t i = 0; i < kMicro; ++i)
#pragma unroll
    for (std::uint32_t j = 0; j < kMicro; ++j) {
      const std::uint64_t row = first_row + i / 4 * (kTile / 2) + lane_m * 4 + i % 4;
      const std::uint64_t column = first_column + j / 4 * (kTile / 2) + lane_n * 4 + j % 4;
      if (row < gemm.m && column < gemm.n)
        store(reinterpret_cast<Out*>(gemm.c) + row * gemm.ldc + column, sum[i][j]);
    }
}

}  // namespace

void launch_reference(const LocalGemm& gemm, cudaStream_t stream) {
  const std::uint64_t across = (gemm.n + kTile - 1) / kTile;
  const std::uint64_t down = (gemm.m + kTile - 1) / kTile;
  if (down > 65535 || across > 0x7fffffffU)  // CUDA's limits of gridDim.y and gridDim.x
    throw Error("gemm: a block of " + std::to_string(gemm.m) + " x " + std::to_string(gemm.n) +
                " is too large for the reference engine: use fewer than 8388480 rows");
  const dim3 grid(static_cast<unsigned>(across), static_cast<unsigned>(down));
  if (gemm.output == GemmOutput::f32)
    reference<float><<<grid, kThreads, 0, stream>>>(gemm);
  else
    reference<__nv_bfloat16><<<grid, kThreads, 0, stream>>>(gemm);
  cuda_check(cudaGetLastError(), "launch the reference GEMM");
}

}  // namespace tidemark
