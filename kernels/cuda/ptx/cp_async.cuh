// cp.async, copies of 16 bytes that a thread starts and does not wait for: the primitives of the
// toolkit take the number of bytes to read as a constant only, one branch a value.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/mbarrier.cuh"

namespace tidemark::kernels {

/// Starts a copy of `bytes` (0 to 16) from global to shared memory and fills up to 16 with zeros.
/// Both addresses on 16 bytes; `from` is not read where `bytes` is 0. PTX ISA 9.0, cp.async.
__device__ __forceinline__ void cp_async_16(void* to, const void* from, std::uint32_t bytes) {
  // Without "memory" the compiler may move the copy in front of the reads of what was there.
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
               :
               : "r"(shared_address(to)), "l"(__cvta_generic_to_global(from)), "r"(bytes)
               : "memory");
}

/// Closes the group of this thread's copies so far. PTX ISA 9.0, cp.async.commit_group.
__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until at most `pending` of this thread's groups are unfinished. Without it the copies are
/// read before they land. Other threads' copies need a barrier behind it. PTX ISA 9.0,
/// cp.async.wait_group.
template <int pending>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

}  // namespace tidemark::kernels
