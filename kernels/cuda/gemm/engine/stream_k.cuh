// Stream-K: tiles whose K two clusters share. The first part is the first that its cluster works on
// of its share, the last part the last one of the next cluster's, which therefore finds the sums of
// the first and adds its own: nobody waits but for a cluster that began late. By GPC that may be
// one that has yet to begin: where others hold half of the SMs, all that run could wait for such.
#pragma once

#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/pack/pack_rows.cuh"
#include "kernels/cuda/gemm/engine/ring.cuh"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"
#include "kernels/cuda/gemm/ladder/parts.cuh"

namespace tidemark::kernels {

/// Threads that hold the sums of a tile.
template <TileShape kShape>
inline constexpr std::uint32_t kHolders = 128 * warpgroups_of_tile(kShape);

/// What a warp of this block leaves, or finds, of the block at its place in `cluster`: whichever
/// warpgroup has a tile in its turn.
struct GivenSums {
  float4* sums;  // this thread's first; the next is kHolders further on
  std::uint32_t* word;
};
template <TileShape kShape>
__device__ __forceinline__ GivenSums given_sums(const EngineProblem& p, const EnginePlace& place,
                                                std::uint32_t cluster) {
  const std::uint32_t block = cluster * blocks_of(kShape) + cluster_rank(kShape, place.in_cluster);
  const std::uint32_t thread = threadIdx.x % kHolders<kShape>;
  return {reinterpret_cast<float4*>(p.sums) + block * (kGivenBytes / sizeof(float4)) + thread,
          p.given + block * kEngineConsumerWarps + thread / 32};
}

/// A warp leaves its sums for the next cluster.
template <TileShape kShape, std::uint32_t kHigh, std::uint32_t kCount>
__device__ __forceinline__ void give_sums(const float (&d)[kHigh][kCount], const EngineProblem& p,
                                          const EnginePlace& place) {
  static_assert(kHigh * kCount * kHolders<kShape> * sizeof(float) <= kGivenBytes);
  const GivenSums to = given_sums<kShape>(p, place, place.first);
#pragma unroll
  for (std::uint32_t high = 0; high < kHigh; ++high)
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; i += 4)
      __stcg(to.sums + (high * kCount + i) / 4 * kHolders<kShape>,
             make_float4(d[high][i], d[high][i + 1], d[high][i + 2], d[high][i + 3]));
  __syncwarp();  // without it lane 0 could tell of sums that other lanes have yet to write
  // Release: without it the word could be seen before the sums.
  if (threadIdx.x % 32 == 0) WordOfGpu(*to.word).store(1, cuda::memory_order_release);
}

/// A warp adds the sums that the cluster before has left, behind a wait as wait_patiently(). After
/// one that failed it adds what it finds: the host discards C.
template <TileShape kShape, std::uint32_t kHigh, std::uint32_t kCount>
__device__ __forceinline__ void take_sums(float (&d)[kHigh][kCount], const EngineProblem& p,
                                          const EnginePlace& place, const Patience& patience) {
  const GivenSums from = given_sums<kShape>(p, place, place.first - 1);
  const std::uint64_t start = cuda::ptx::get_sreg_globaltimer();
  // All lanes leave the loop together: else the compiler takes the descriptors of wgmma for values
  // that differ between lanes (ci/check_machine_code). Acquire: without it the sums could be read
  // as they were before the word was seen.
  while (__any_sync(0xffffffffU, WordOfGpu(*from.word).load(cuda::memory_order_acquire) == 0)) {
    const bool late = cuda::ptx::get_sreg_globaltimer() - start > patience.bound_ns;
    if (late && !patience.lost())
      *patience.timed_out = timed_out_word({.producer = false, .block = blockIdx.x});
    if (late) *patience.abandoned = 1;
    if (__any_sync(0xffffffffU, late || patience.lost() || *patience.timed_out != 0)) break;
  }
  if (threadIdx.x % 32 == 0) WordOfGpu(*from.word).store(0, cuda::memory_order_relaxed);
#pragma unroll
  for (std::uint32_t high = 0; high < kHigh; ++high)
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; i += 4) {
      const float4 given = __ldcg(from.sums + (high * kCount + i) / 4 * kHolders<kShape>);
      d[high][i] += given.x;
      d[high][i + 1] += given.y;
      d[high][i + 2] += given.z;
      d[high][i + 3] += given.w;
    }
}

}  // namespace tidemark::kernels
