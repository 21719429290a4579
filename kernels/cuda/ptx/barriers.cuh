// Barriers, elect.sync and cp.async, in the forms that cuda::ptx of CCCL 3.0 lacks.
#pragma once

#include <cstdint>
#include <cuda/ptx>

namespace tidemark {

// The mbarrier instructions that cuda::ptx of CCCL 3.0 lacks, and a wait that always ends.

/// Address of `object` in the shared window, as the .shared forms take it.
__device__ inline std::uint32_t shared_address(const void* object) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(object));
}

/// Takes `bytes` off the tx-count of the current phase as a finished copy would, and completes the
/// phase if nothing is pending any more. PTX ISA 9.0, 9.7.13.15.12.
__device__ inline void mbarrier_complete_tx(std::uint64_t* barrier, std::uint32_t bytes) {
  // Without "memory" the compiler may move a later test_wait in front of the credit.
  asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
               :
               : "r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

/// The same of a barrier of another CTA of the cluster, at this address of shared::cluster.
__device__ inline void mbarrier_complete_tx_remote(std::uint64_t* barrier, std::uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;"
               :
               : "r"(shared_address(barrier)), "r"(bytes)
               : "memory");
}

/// Arrivals that were pending before mbarrier.arrive.noComplete returned this token. PTX ISA 9.0,
/// 9.7.13.15 mbarrier.pending_count.
__device__ inline std::uint32_t mbarrier_pending_count(std::uint64_t token) {
  std::uint32_t pending = 0;
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(token));
  return pending;
}

/// Arrives, and takes this arrival off those that later phases wait for. PTX ISA 9.0, 9.7.13.15.14.
__device__ inline void mbarrier_arrive_drop(std::uint64_t* barrier) {
  // Without "memory" the compiler may move writes that the arrival releases behind it.
  asm volatile("mbarrier.arrive_drop.release.cta.shared::cta.b64 _, [%0];"
               :
               : "r"(shared_address(barrier))
               : "memory");
}

/// The same of a barrier of another CTA of the cluster, at this address of shared::cluster.
__device__ inline void mbarrier_arrive_drop_remote(std::uint64_t* barrier) {
  asm volatile("mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%0];"
               :
               : "r"(shared_address(barrier))
               : "memory");
}

/// Ends the life of a barrier: its memory may be used for something else, another barrier included.
/// Nothing may be pending on it. PTX ISA 9.0, 9.7.13.15.10.
__device__ inline void mbarrier_inval(std::uint64_t* barrier) {
  // Without it, initialising the same bytes again is undefined.
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" : : "r"(shared_address(barrier)) : "memory");
}

/// Where a bounded wait came out.
struct WaitResult {
  bool complete = false;
  std::uint64_t waited_ns = 0;
};

/// Waits until the phase of `parity` is complete, at most about `bound_ns` (below 1 s). Acquires at
/// `kScope`: what the copies of that phase wrote may be read afterwards. Block scope is for copies
/// that this block issued; those of another block of the cluster need cluster scope. PTX ISA 9.0,
/// 9.7.13.15.16.
template <cuda::ptx::dot_scope kScope = cuda::ptx::dot_scope::cta>
__device__ inline WaitResult wait_bounded(std::uint64_t* barrier, std::uint32_t parity,
                                          std::uint64_t bound_ns) {
  // The hardware may suspend the thread for this long before try_wait answers false.
  constexpr std::uint32_t kSuspendNs = 20'000;
  // Two more bounds, since %globaltimer may stand still or step on some targets: 4 cycles a
  // nanosecond is above any clock of the chip, and a try_wait takes more than 4 ns.
  const auto bound_cycles = static_cast<long long>(bound_ns * 4);
  const std::uint64_t bound_tries = 1000 + bound_ns / 4;
  const std::uint64_t began_ns = cuda::ptx::get_sreg_globaltimer();
  const long long began_cycle = clock64();
  WaitResult result;
  for (std::uint64_t tries = 0; tries < bound_tries; ++tries) {
    result.complete = cuda::ptx::mbarrier_try_wait_parity(
        cuda::ptx::sem_acquire, cuda::ptx::scope_t<kScope>{}, barrier, parity, kSuspendNs);
    result.waited_ns = cuda::ptx::get_sreg_globaltimer() - began_ns;
    if (result.complete || result.waited_ns > bound_ns) break;
    if (clock64() - began_cycle > bound_cycles) break;
  }
  return result;
}

/// Lets `ns` go by (below 1 s): time for copies in flight to land where nothing tells that they
/// did.
__device__ inline void quiesce(std::uint64_t ns) {
  const auto bound_cycles = static_cast<long long>(ns * 4);
  const std::uint64_t began_ns = cuda::ptx::get_sreg_globaltimer();
  const long long began_cycle = clock64();
  while (cuda::ptx::get_sreg_globaltimer() - began_ns < ns &&
         clock64() - began_cycle < bound_cycles)
    __nanosleep(200);
}

// bar.sync and bar.arrive with a number, which cuda::ptx lacks: barriers of some warps of a block.

/// Waits at hardware barrier `id` (1 to 15; 0 is __syncthreads) until `threads` threads have come
/// to it, by this function or the next. All lanes of the warp. PTX ISA 9.0, 9.7.13.1.
template <std::uint32_t id, std::uint32_t threads>
__device__ __forceinline__ void sync_at_barrier() {
  // Without "memory" the compiler may move accesses across the barrier.
  asm volatile("bar.sync %0, %1;" ::"n"(id), "n"(threads) : "memory");
}

/// The same of a barrier that is known at run time.
__device__ __forceinline__ void sync_at_barrier(std::uint32_t id, std::uint32_t threads) {
  // Without "memory" the compiler may move accesses across the barrier.
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

/// Comes to barrier `id` and does not wait.
template <std::uint32_t id, std::uint32_t threads>
__device__ __forceinline__ void arrive_at_barrier() {
  asm volatile("bar.arrive %0, %1;" ::"n"(id), "n"(threads) : "memory");
}

// elect.sync, which cuda::ptx of CCCL 3.0 lacks.

/// True in one lane of a warp, the same one each time. All 32 lanes call it. Where a branch depends
/// on it the compiler knows that one lane is left, and issues a copy of the TMA once; behind a
/// comparison of threadIdx it issues it in a loop over all lanes that might be there. PTX ISA 9.0,
/// elect.sync.
__device__ __forceinline__ bool is_elected() {
  std::uint32_t elected = 0;
  // Without "volatile" the compiler may move it behind a branch, where lanes would be missing.
  asm volatile(
      "{\n"
      " .reg .pred elected;\n"
      " elect.sync _|elected, 0xffffffff;\n"
      " selp.u32 %0, 1, 0, elected;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}

// cp.async, copies of 16 bytes that a thread starts and does not wait for: the primitives of the
// toolkit take the number of bytes to read as a constant only, one branch a value.

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

}  // namespace tidemark
