// Products of fp8. The tensor cores keep about 14 bits of a sum of them: each stage is therefore
// summed from zero, and added to fp32 sums that only CUDA cores touch.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark::kernels {

template <std::uint32_t kHigh, std::uint32_t kCount>
__device__ __forceinline__ void start_from_zero(float (&sums)[kHigh][kCount]) {
#pragma unroll
  for (std::uint32_t high = 0; high < kHigh; ++high)
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i) sums[high][i] = 0;
}

/// Without the wait unfinished sums would be added; the other warpgroup's wgmma keep the tensor
/// cores busy meanwhile.
template <std::uint32_t kHigh, std::uint32_t kCount>
__device__ __forceinline__ void finish_stage(float (&partial)[kHigh][kCount]) {
  wgmma_wait<0>();
#pragma unroll
  for (std::uint32_t high = 0; high < kHigh; ++high) hold_sums(partial[high]);
}

/// Adds the sums of a stage, whose wgmma are done, to those of the tile from `first` on, rounded to
/// nearest.
template <std::uint32_t first, std::uint32_t kHigh, std::uint32_t kCount, std::uint32_t kPart>
__device__ __forceinline__ void promote(float (&sums)[kHigh][kCount],
                                        const float (&partial)[kHigh][kPart]) {
#pragma unroll
  for (std::uint32_t high = 0; high < kHigh; ++high)
#pragma unroll
    for (std::uint32_t i = 0; i < kPart; ++i) sums[high][first + i] += partial[high][i];
}

}  // namespace tidemark::kernels
