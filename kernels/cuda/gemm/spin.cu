// Every SM multiplies matrices until its time is over. It must take the power that a product takes:
// where less is drawn, a GPU at its power cap clocks higher in the rest of the sample and gives
// back most of what was added (3 % more time with fused multiply-adds made products 0.8 % slower).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/gemm/reference.hpp"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark {
namespace {

constexpr std::uint32_t kThreads = 256;  // two warpgroups: one issues while the other waits
constexpr std::uint32_t kRowsOfA = 128;  // 64 of each warpgroup
constexpr std::uint32_t kRowsOfB = 256;
constexpr std::uint32_t kRowWords = 32;         // 64 bf16, one swizzle span
constexpr int kIdleBytes = 176 << 10;           // of shared memory: an SM has 3 KiB left
constexpr std::uint64_t kMostNs = 500'000'000;  // the bound of a kernel that must end

using Form = WgmmaForm<MmaType::bf16, false, false>;

/// Two bf16 of random sign and mantissa, from 0.5 to 2 in magnitude: what toggles in a product of
/// normal numbers toggles here, and no sum leaves fp32 within the bound.
__device__ std::uint32_t random_pair(std::uint32_t index) {
  std::uint32_t hash = (index + 1) * 0x9e3779b9U;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  hash ^= hash >> 16;
  return (hash & 0x80ff80ffU) | 0x3f003f00U;
}

__global__ void __launch_bounds__(kThreads) spin(std::uint64_t ns, float* never) {
  __shared__ alignas(1024) std::uint32_t a[kRowsOfA * kRowWords];
  __shared__ alignas(1024) std::uint32_t b[kRowsOfB * kRowWords];
  // A second bound, since %globaltimer may stand still on some targets: 4 cycles a nanosecond is
  // above any clock of the chip.
  const auto bound_cycles = static_cast<long long>(ns * 4);
  const std::uint64_t began_ns = cuda::ptx::get_sreg_globaltimer();
  const long long began_cycle = clock64();
  for (std::uint32_t i = threadIdx.x; i < kRowsOfA * kRowWords; i += kThreads)
    a[i] = random_pair(i);
  for (std::uint32_t i = threadIdx.x; i < kRowsOfB * kRowWords; i += kThreads)
    b[i] = random_pair(~i);
  // Without it wgmma, which reads by the async proxy, may read what lay there before.
  cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  __syncthreads();  // and the other threads' words

  const std::uint32_t warpgroup = threadIdx.x / 128;
  const std::uint64_t at_a = k_major_swizzle128(
      static_cast<std::uint32_t>(__cvta_generic_to_shared(a + warpgroup * 64 * kRowWords)));
  const std::uint64_t at_b =
      k_major_swizzle128(static_cast<std::uint32_t>(__cvta_generic_to_shared(b)));
  float d[128] = {};
  bool over = false;
  do {
    hold_sums(d);
    wgmma_fence();  // without it the accumulators' registers may still be in use elsewhere
#pragma unroll
    for (std::uint32_t k16 = 0; k16 < 4; ++k16) wgmma<Form>(d, at_a + 2 * k16, at_b + 2 * k16, 1U);
    wgmma_commit();
    // One thread looks at the clock, while the tensor core works, so that all decide alike: the
    // .aligned instructions need every warp of a warpgroup.
    over =
        __syncthreads_or(threadIdx.x == 0 && (cuda::ptx::get_sreg_globaltimer() - began_ns >= ns ||
                                              clock64() - began_cycle >= bound_cycles)
                             ? 1
                             : 0) != 0;
    wgmma_wait<0>();  // without it the sums are used while the tensor core still adds to them
    hold_sums(d);
  } while (!over);
  // No sum of finite numbers is NaN: a use, without which nothing would be multiplied.
  if (d[0] != d[0]) *never = d[0];
}

}  // namespace

void launch_spin(std::uint64_t ns, cudaStream_t stream) {
  int device = 0;
  int sms = 0;
  cuda_check(cudaGetDevice(&device), "ask for the current device");
  cuda_check(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device),
             "ask how many SMs there are");
  cuda_check(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, kIdleBytes),
             "give the spin a whole SM");
  spin<<<static_cast<unsigned>(sms), kThreads, kIdleBytes, stream>>>(std::min(ns, kMostNs),
                                                                     nullptr);
  cuda_check(cudaGetLastError(), "launch the spin of a slowed benchmark");
}

}  // namespace tidemark
