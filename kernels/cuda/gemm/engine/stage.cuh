// How a consumer multiplies one stage of the ring: operand types, descriptors, the wgmma of a
// stage, and the promotion of what the tensor cores sum up with too few bits.
#pragma once

#include <cstdint>

#include "kernels/cuda/gemm/engine/tile_shape.hpp"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/ptx/wgmma_wide.cuh"

namespace tidemark::kernels {

/// Element type of A and B, and whether M or N rather than K is their contiguous dimension.
template <MmaType type, bool a_mn, bool b_mn>
struct EngineOperands {
  using Form = WgmmaForm<type, a_mn, b_mn>;
  static constexpr bool kAMn = a_mn;
  static constexpr bool kBMn = b_mn;
  /// k of a stage.
  static constexpr std::uint32_t kTileK = element_bytes(type) == 1 ? kFp8TileK : kEngineTileK;
  /// The tensor cores keep about 14 bits of a sum of fp8 products. Each stage is therefore summed
  /// from zero, and added to fp32 sums that only CUDA cores touch.
  static constexpr bool kPromotes = type == MmaType::e4m3 || type == MmaType::e5m2;
};

/// Descriptor of an operand in a stage; its address is a multiple of 1024. K-major as
/// k_major_swizzle128(); MN-major: 64 k of 128 bytes from one run of 64 indices to the next (the
/// leading offset), 8 k of 128 bytes to the next 8 k (the stride). PTX ISA 9.0, 9.7.15.5.1.2.
template <bool kMn>
__device__ __forceinline__ std::uint64_t operand_descriptor(std::uint32_t address) {
  if constexpr (!kMn) return k_major_swizzle128(address);
  constexpr std::uint64_t kNextRun = kEngineTileK * kEngineRowBytes;
  constexpr std::uint64_t kNextEight = 8 * kEngineRowBytes;
  return ((address & 0x3ffffU) >> 4) | ((kNextRun >> 4) << 16) | ((kNextEight >> 4) << 32) |
         (std::uint64_t{1} << 62);
}
/// What takes a descriptor one wgmma further along k: 32 bytes of each row (16 k, 32 of fp8), or 16
/// rows.
template <bool kMn>
inline constexpr std::uint64_t kStepOfK = (kMn ? 16 * kEngineRowBytes : 32) >> 4;

/// Starts all wgmma of one stage, or its first `steps` where K ends within it, as one group. In the
/// first `block` of k the first product overwrites whatever the registers held.
template <class Operands, std::uint32_t steps = kStepsOfStage, std::uint32_t kHigh,
          std::uint32_t kCount>
__device__ __forceinline__ void multiply_stage(float (&d)[kHigh][kCount], std::uint64_t a,
                                               std::uint64_t b, std::uint32_t block) {
  wgmma_fence();  // without it the accumulators' registers may still be in use elsewhere
#pragma unroll
  for (std::uint32_t step = 0; step < steps; ++step)
#pragma unroll
    for (std::uint32_t high = 0; high < kHigh; ++high)
      wgmma<typename Operands::Form>(
          d[high], a + step * kStepOfK<Operands::kAMn> + high * (64 * kEngineRowBytes >> 4),
          b + step * kStepOfK<Operands::kBMn>, block + step != 0 ? 1U : 0U);
  wgmma_commit();  // without it a wait would count no group
}

/// Adds the sums of a stage, whose wgmma are done, to those of the tile, rounded to nearest.
template <std::uint32_t kHigh, std::uint32_t kCount>
__device__ __forceinline__ void promote(float (&sums)[kHigh][kCount],
                                        const float (&partial)[kHigh][kCount]) {
#pragma unroll
  for (std::uint32_t high = 0; high < kHigh; ++high)
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i) sums[high][i] += partial[high][i];
}

}  // namespace tidemark::kernels
