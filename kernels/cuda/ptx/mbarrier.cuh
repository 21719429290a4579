// The mbarrier instructions that cuda::ptx of CCCL 3.0 lacks, and a wait that always ends.
#pragma once

#include <cstdint>
#include <cuda/ptx>

namespace tidemark::kernels {

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

}  // namespace tidemark::kernels
