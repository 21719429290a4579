// bar.sync and bar.arrive with a number, which cuda::ptx lacks: barriers of some warps of a block.
#pragma once

#include <cstdint>

namespace tidemark::kernels {

/// Waits at hardware barrier `id` (1 to 15; 0 is __syncthreads) until `threads` threads have come
/// to it, by this function or the next. All lanes of the warp. PTX ISA 9.0, 9.7.13.1.
template <std::uint32_t id, std::uint32_t threads>
__device__ __forceinline__ void sync_at_barrier() {
  // Without "memory" the compiler may move accesses across the barrier.
  asm volatile("bar.sync %0, %1;" ::"n"(id), "n"(threads) : "memory");
}

/// Comes to barrier `id` and does not wait.
template <std::uint32_t id, std::uint32_t threads>
__device__ __forceinline__ void arrive_at_barrier() {
  asm volatile("bar.arrive %0, %1;" ::"n"(id), "n"(threads) : "memory");
}

}  // namespace tidemark::kernels
