// What the rungs share and none of them is about: waits that end, and a plain store of
// accumulators.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/ladder/rung.hpp"
#include "kernels/cuda/ptx/barriers.cuh"

namespace tidemark {

/// How long a CTA waits, and where it says that it has given up.
struct WaitBound {
  volatile std::uint32_t* abandoned = nullptr;  // shared: a wait of this block ended by its bound
  volatile std::uint32_t* timed_out = nullptr;  // global: one of any block did
  std::uint64_t bound_ns = kKernelWaitNs;       // of each wait

  /// Whether some thread of the block has given up.
  __device__ __forceinline__ bool lost() const { return *abandoned != 0; }
};

/// Waits until the phase of `parity` is complete, for at most WaitBound::bound_ns. False when the
/// bound passed or another thread has given up, in whatever block: nothing was waited for then, and
/// the role is to run out without waiting or releasing anything again.
__device__ __forceinline__ bool wait_within_bound(std::uint64_t& barrier, std::uint32_t parity,
                                                  const WaitBound& bound, bool producer) {
  namespace ptx = cuda::ptx;
  // A word in global memory is not read by every thread that waits for some microseconds.
  constexpr std::uint64_t kGlanceNs = 10'000'000;
  // Acquire: without it the accesses behind the wait could be made before the flip.
  if (ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &barrier, parity))
    return true;
  const std::uint64_t start = ptx::get_sreg_globaltimer();
  while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &barrier, parity)) {
    if (*bound.abandoned != 0) return false;
    const std::uint64_t waited = ptx::get_sreg_globaltimer() - start;
    const bool others_gave_up = waited > kGlanceNs && *bound.timed_out != 0;
    if (!others_gave_up && waited <= bound.bound_ns) continue;
    *bound.abandoned = 1;
    // Several may write: each of them tells the truth.
    if (!others_gave_up)
      *bound.timed_out = timed_out_word({.producer = producer, .block = blockIdx.x});
    return false;
  }
  return true;
}

/// Makes a fresh ring's barriers, initialised by this thread, known to the async proxy and to the
/// cluster: complete_tx of a copy is an access at cluster scope through that proxy, and unfenced it
/// may find the memory as it was before the init.
__device__ __forceinline__ void publish_barriers() {
  namespace ptx = cuda::ptx;
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  ptx::fence_proxy_async(ptx::space_shared);
}

/// Gives copies that are merely slow ten milliseconds to land after a wait that failed, before this
/// block's memory goes to another.
__device__ __forceinline__ void leave(const WaitBound& bound) {
  if (bound.lost()) quiesce(10'000'000);
}

/// The first 1024-byte boundary of dynamic shared memory: there the swizzle of TMA and that of the
/// descriptors start at the same row.
template <class Shared>
__device__ __forceinline__ Shared& shared_at_1024(std::byte* bytes) {
  return *reinterpret_cast<Shared*>(bytes + (1024 - shared_address(bytes) % 1024) % 1024);
}

/// Two neighbours of one row of C. Where n is odd the last column stands alone.
__device__ __forceinline__ void store_pair(float* c, float left, float right, bool both) {
  if (both)
    *reinterpret_cast<float2*>(c) = {left, right};
  else
    *c = left;
}
__device__ __forceinline__ void store_pair(__nv_bfloat16* c, float left, float right, bool both) {
  if (both)
    *reinterpret_cast<__nv_bfloat162*>(c) = __floats2bfloat162_rn(left, right);
  else
    *c = __float2bfloat16_rn(left);
}

__device__ __forceinline__ float as_float(float value) { return value; }
__device__ __forceinline__ float as_float(std::uint32_t bits) { return __uint_as_float(bits); }

/// Writes the accumulators of one warpgroup, 64 rows from `row0` and 2 `count` columns from
/// `column0`, in the order in which wgmma leaves them. Nothing outside C is touched.
template <class Out, class Accumulator, std::uint32_t count>
__device__ __forceinline__ void store_accumulators(const Accumulator (&d)[count],
                                                   const RungProblem& p, std::uint32_t row0,
                                                   std::uint32_t column0) {
  const std::uint32_t thread = threadIdx.x % 128;
  const std::uint32_t row = row0 + thread / 32 * 16 + thread % 32 / 4;
  const std::uint32_t column = column0 + thread % 4 * 2;
  // Pairs lie on their own size: columns are even and rows of C start on 16 bytes.
  Out* upper = static_cast<Out*>(p.c) + row * p.ldc + column;
  Out* lower = upper + 8 * p.ldc;
#pragma unroll
  for (std::uint32_t j = 0; j < count / 4; ++j) {
    const bool first = column + 8 * j < p.n;
    const bool both = column + 8 * j + 1 < p.n;
    if (first && row < p.m)
      store_pair(upper + 8 * j, as_float(d[4 * j]), as_float(d[4 * j + 1]), both);
    if (first && row + 8 < p.m)
      store_pair(lower + 8 * j, as_float(d[4 * j + 2]), as_float(d[4 * j + 3]), both);
  }
}

}  // namespace tidemark
