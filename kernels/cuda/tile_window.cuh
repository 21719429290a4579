// The shared window of a tile operation inside a thread block: where it lies, its poison, its way
// out, and the barrier that copies into it complete on.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/barriers.cuh"
#include "kernels/ops/payload.hpp"
#include "kernels/ops/program/program.hpp"

namespace tidemark {

inline constexpr std::uint32_t kWindowAlignment = 1024;  // the largest swizzle period

/// Dynamic shared memory for a window: room to align it, and whole 16-byte pieces.
constexpr std::uint32_t dynamic_bytes(std::uint32_t window) {
  return kWindowAlignment + (window + 15) / 16 * 16;
}

/// Four bytes of poison from `offset` on.
__device__ inline std::uint32_t poison_word(const Payload& payload, std::uint32_t offset) {
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < 4; ++i)
    word |= std::uint32_t{poison_byte(payload, offset + i)} << (8 * i);
  return word;
}

/// Copies `bytes` (rounded up to 16) of a window to device memory, all threads of the block
/// together.
__device__ inline void copy_window_out(const std::uint8_t* window, std::uint32_t bytes,
                                       std::uint8_t* to) {
  for (std::uint32_t at = 16 * threadIdx.x; at < bytes; at += 16 * blockDim.x)
    *reinterpret_cast<uint4*>(to + at) = *reinterpret_cast<const uint4*>(window + at);
}

/// Where the window starts in dynamic shared memory, whose own alignment is not promised.
__device__ inline std::uint8_t* window_in(std::uint8_t* dynamic_memory) {
  return dynamic_memory + ((0U - shared_address(dynamic_memory)) & (kWindowAlignment - 1));
}

}  // namespace tidemark
