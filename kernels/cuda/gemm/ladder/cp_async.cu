// Rung 2: cp.async copies, CUDA cores multiply. The copies of the next two steps run while this one
// is multiplied, and no longer pass through registers, so bf16 lies in shared memory as it lay in
// global memory and is converted where it is used. Still every thread computes addresses, issues
// copies and waits for all of them.
#include <cuda_bf16.h>

#include <cstdint>

#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/ptx/barriers.cuh"

namespace tidemark {
namespace {

constexpr std::uint32_t kTile = 128;     // rows and columns of C a block computes
constexpr std::uint32_t kDepth = 32;     // of k, per step
constexpr std::uint32_t kStages = 3;     // one being multiplied, two on their way
constexpr std::uint32_t kThreads = 256;  // 16 x 16
constexpr std::uint32_t kMicro = 8;      // a thread computes rows and columns 16 apart, 8 x 8
constexpr std::uint32_t kVector = 8;     // bf16 elements of one cp.async: 16 bytes
// 80 bytes from row to row: eight rows then start in eight different groups of banks, where 64
// would put every other row on the same.
constexpr std::uint32_t kRow = kDepth + kVector;

struct Stage {
  alignas(16) __nv_bfloat16 a[kTile][kRow];
  alignas(16) __nv_bfloat16 b[kTile][kRow];
};
struct Pipeline {
  Stage stage[kStages];
};
static_assert(sizeof(Pipeline) == 61440);

/// One matrix, K-major.
struct Matrix {
  const __nv_bfloat16* base;
  std::uint64_t pitch;
  std::uint32_t rows, k;
};

/// Starts the copies of rows first_row ... + 127 and k ... + 31. What lies outside the matrix is
/// filled with zeros by the copy itself: it reads fewer bytes than it writes.
__device__ __forceinline__ void start_copies(__nv_bfloat16 (&to)[kTile][kRow], const Matrix& matrix,
                                             std::uint32_t first_row, std::uint32_t first_k) {
#pragma unroll
  for (std::uint32_t i = threadIdx.x; i < kTile * kDepth / kVector; i += kThreads) {
    const std::uint32_t row = i / (kDepth / kVector);
    const std::uint32_t depth = i % (kDepth / kVector) * kVector;
    const std::uint32_t k = first_k + depth;
    const bool inside = first_row + row < matrix.rows && k < matrix.k;
    const std::uint32_t elements = !inside ? 0 : min(matrix.k - k, kVector);
    // Not an address outside the matrix even where nothing is read from it.
    const __nv_bfloat16* from =
        inside ? matrix.base + (first_row + row) * matrix.pitch + k : matrix.base;
    cp_async_16(&to[row][depth], from, elements * sizeof(__nv_bfloat16));
  }
}

/// Four neighbours along k.
struct Quartet {
  alignas(8) __nv_bfloat162 pair[2];
};

__device__ __forceinline__ Quartet quartet_at(const __nv_bfloat16* from) {
  Quartet quartet;
  *reinterpret_cast<uint2*>(quartet.pair) = *reinterpret_cast<const uint2*>(from);
  return quartet;
}

__device__ __forceinline__ void multiply(float (&sum)[kMicro][kMicro], const Stage& stage,
                                         std::uint32_t lane_m, std::uint32_t lane_n) {
#pragma unroll 1
  for (std::uint32_t depth = 0; depth < kDepth; depth += 4) {
    Quartet left[kMicro];
    Quartet right[kMicro];
#pragma unroll
    for (std::uint32_t i = 0; i < kMicro; ++i) {
      left[i] = quartet_at(&stage.a[lane_m + 16 * i][depth]);
      right[i] = quartet_at(&stage.b[lane_n + 16 * i][depth]);
    }
#pragma unroll
    for (std::uint32_t pair = 0; pair < 2; ++pair) {
      float2 a[kMicro];  // converted once for eight columns
#pragma unroll
      for (std::uint32_t i = 0; i < kMicro; ++i) a[i] = __bfloat1622float2(left[i].pair[pair]);
#pragma unroll
      for (std::uint32_t j = 0; j < kMicro; ++j) {
        const float2 b = __bfloat1622float2(right[j].pair[pair]);
#pragma unroll
        for (std::uint32_t i = 0; i < kMicro; ++i)
          sum[i][j] = fmaf(a[i].y, b.y, fmaf(a[i].x, b.x, sum[i][j]));
      }
    }
  }
}

__device__ __forceinline__ void store(float* c, float value) { *c = value; }
__device__ __forceinline__ void store(__nv_bfloat16* c, float value) {
  *c = __float2bfloat16_rn(value);
}

template <class Out>
__global__ void __launch_bounds__(kThreads, 2)
    cp_async(const __grid_constant__ CUtensorMap /*a_map*/,
             const __grid_constant__ CUtensorMap /*b_map*/,
             const __grid_constant__ CUtensorMap /*c_map*/, const RungProblem p) {
  extern __shared__ uint4 shared_bytes[];
  Pipeline& pipeline = *reinterpret_cast<Pipeline*>(shared_bytes);
  const Matrix a_matrix{static_cast<const __nv_bfloat16*>(p.a), p.pitch, p.m, p.k};
  const Matrix b_matrix{static_cast<const __nv_bfloat16*>(p.b), p.pitch, p.n, p.k};
  const std::uint32_t first_row = blockIdx.x % p.m_tiles * kTile;
  const std::uint32_t first_column = blockIdx.x / p.m_tiles * kTile;
  const std::uint32_t lane_m = threadIdx.x / 16;
  const std::uint32_t lane_n = threadIdx.x % 16;
  const std::uint32_t steps = (p.k + kDepth - 1) / kDepth;
  const auto start = [&](std::uint32_t step) {
    Stage& stage = pipeline.stage[step % kStages];
    if (step < steps) {
      start_copies(stage.a, a_matrix, first_row, step * kDepth);
      start_copies(stage.b, b_matrix, first_column, step * kDepth);
    }
    // One group a step, an empty one at the end: the wait below counts groups.
    cp_async_commit();
  };

  float sum[kMicro][kMicro] = {};
  for (std::uint32_t step = 0; step < kStages - 1; ++step) start(step);
  for (std::uint32_t step = 0; step < steps; ++step) {
    // This thread's copies of this step have landed; those of the step behind it may run on.
    cp_async_wait<kStages - 2>();
    // And everybody else's have, for each thread waits for its own alone; and nobody reads any more
    // from the stage that is filled next, which is the one before this.
    __syncthreads();
    start(step + kStages - 1);
    multiply(sum, pipeline.stage[step % kStages], lane_m, lane_n);
  }

#pragma unroll
  for (std::uint32_t i = 0; i < kMicro; ++i)
#pragma unroll
    for (std::uint32_t j = 0; j < kMicro; ++j) {
      const std::uint32_t row = first_row + lane_m + 16 * i;
      const std::uint32_t column = first_column + lane_n + 16 * j;
      if (row < p.m && column < p.n)
        store(static_cast<Out*>(p.c) + row * p.ldc + column, sum[i][j]);
    }
}

}  // namespace

RungKernel cp_async_rung(GemmOutput output) {
  return {.kernel = output == GemmOutput::f32
                        ? reinterpret_cast<const void*>(&cp_async<float>)
                        : reinterpret_cast<const void*>(&cp_async<__nv_bfloat16>),
          .tile_m = kTile,
          .tile_n = kTile,
          .threads = kThreads,
          .shared_bytes = sizeof(Pipeline)};
}

}  // namespace tidemark
