// What surrounds wgmma, and setmaxnreg, which cuda::ptx lacks: one function an instruction, nothing
// hidden. wgmma itself is in wgmma_forms.cuh and wgmma_wide.cuh.
#pragma once

#include <cstdint>

namespace tidemark::kernels {

/// Orders this warp's earlier accesses to the accumulators (and to shared memory) before the wgmma
/// that follow. Without it the first wgmma may read registers that are still being written.
/// PTX ISA, wgmma.fence; all threads of the warpgroup.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Closes the group of the wgmma issued so far. Without it wgmma_wait has nothing to count and
/// returns while they still run. PTX ISA, wgmma.commit_group.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most `pending` groups of this warp are unfinished. Without it the accumulators
/// are read, or the operands overwritten, while the tensor core still uses them. PTX ISA,
/// wgmma.wait_group.
template <int pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/// Gives registers of the warpgroup back, down to `registers` a thread; ptxas then allots no more
/// than that. Without it the 384 threads would keep 168 each and the consumers would spill. All
/// warps of the warpgroup. PTX ISA, setmaxnreg.
template <int registers>
__device__ __forceinline__ void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

/// Takes registers until each thread has `registers`; waits until others have given enough back.
template <int registers>
__device__ __forceinline__ void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// Descriptor of a K-major operand in shared memory whose rows are one 128-byte swizzle span, as a
/// SWIZZLE_128B tensor map leaves them: `shared_address` is a multiple of 1024 (base offset 0).
/// Add 2 to step 32 bytes along K: the swizzle is taken of address bits, not of offsets.
/// PTX ISA, matrix descriptor: bits 0-13 address >> 4, 16-29 leading offset >> 4 (not used by this
/// layout, 1 by custom), 32-45 stride offset >> 4, 49-51 base offset, 62-63 swizzle.
__device__ __forceinline__ std::uint64_t k_major_swizzle128(std::uint32_t shared_address) {
  constexpr std::uint64_t kEightRows = 8 * 128;  // bytes from one group of eight rows to the next
  constexpr std::uint64_t kSwizzle128 = 1;
  return ((shared_address & 0x3ffffU) >> 4) | (1ULL << 16) | ((kEightRows >> 4) << 32) |
         (kSwizzle128 << 62);
}

}  // namespace tidemark::kernels
