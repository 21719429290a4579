// Operands by their type, and by the index that is contiguous in memory: how wgmma finds them in a
// stage.
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
  /// Of fp8: promote.cuh.
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

}  // namespace tidemark::kernels
