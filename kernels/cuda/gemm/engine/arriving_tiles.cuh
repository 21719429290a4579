// A product beside the exchange of its panels: who waits for rows that other ranks send. A warp
// that has nothing else to do watches the words of the shards, for one tile of the block after the
// other, and says in shared memory up to which one the rows are there. The producer waits for that
// word, so that it never waits for memory where the rows have come in time.
#pragma once

#include <cstdint>
#include <cuda/atomic>
#include <cuda/ptx>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/ring.cuh"
#include "kernels/cuda/gemm/ladder/parts.cuh"

namespace tidemark {

using WordOfBlock = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_block>;

/// Whether one of the shards that this lane looks after is missing: of those from `ends` % 2^16 up
/// to but not including `ends` / 2^16 every 32nd. System scope: it is not this GPU's SMs that write
/// the words.
__device__ __forceinline__ bool lacks_shard(std::uint32_t* words, std::uint32_t epoch,
                                            std::uint32_t ends) {
  using Word = cuda::atomic_ref<std::uint32_t, cuda::thread_scope_system>;
#pragma unroll 1  // the producer's warps have 40 registers
  for (std::uint32_t i = (ends & 0xffff) + threadIdx.x % 32; i < ends >> 16; i += 32) {
    const std::uint32_t word = Word(words[i]).load(cuda::memory_order_relaxed);
    if (word != epoch && word != kOwnShard) return true;
  }
  return false;
}

/// All lanes of one warp: finds out up to which tile of this block the rows are there, in the order
/// in which the producer loads them. Ends with the last of them, or when the block gives up, be it
/// by the bound of this wait or because the host has written the time-out word.
template <TileShape kShape>
__device__ __forceinline__ void watch_arrivals(EngineRing<kShape>& ring, const EngineProblem& p,
                                               const EnginePlace& place, const WaitBound& bound) {
  namespace ptx = cuda::ptx;
  const Arrivals& of = p.arrivals;
  const std::uint32_t tiles = p.m_tiles * p.n_tiles;
  const auto now_us = [] { return static_cast<std::uint32_t>(ptx::get_sreg_globaltimer() >> 10); };
  std::uint32_t start = now_us();
#pragma unroll 1
  for (std::uint32_t tile = place.first; tile < tiles;) {
    if (tile < of.own_tiles) {
      tile += place.step;
      continue;
    }
    const uint2 shards = __ldg(reinterpret_cast<const uint2*>(of.order + tile) + 1);
    const bool lacks = lacks_shard(of.a, p.epoch, shards.x) || lacks_shard(of.b, p.epoch, shards.y);
    if (__any_sync(0xffffffffU, lacks)) {
      const bool late = now_us() - start > of.bound_us;
      const bool ends = late || bound.lost() || *bound.timed_out != 0;
      // Together: a lane that stayed would look without those that left.
      if (__any_sync(0xffffffffU, ends)) {
        *bound.abandoned = 1;
        // In that order: what the host or another block has written stays.
        if (late && *bound.timed_out == 0)
          *bound.timed_out = timed_out_word({.rows = true, .block = blockIdx.x});
        return;
      }
      __nanosleep(100);  // 132 warps that look without a pause would keep L2 busy
      continue;
    }
    // Acquire: without it the rows could be read as they were before their word was seen.
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_system);
    // TMA reads through the async proxy: without this fence it may find the rows as they were.
    ptx::fence_proxy_async(ptx::space_global);
    __syncwarp();  // without it lane 0 could tell of what other lanes have yet to see
    // Release: without it the producer could act on the word before what was seen.
    if (threadIdx.x % 32 == 0)
      WordOfBlock(ring.arrived_below).store(tile + 1, cuda::memory_order_release);
    tile += place.step;
    start = now_us();
  }
}

/// The producer thread is about to load `tile`: false as of wait_within_bound().
template <TileShape kShape>
__device__ __forceinline__ bool wait_for_arrival(EngineRing<kShape>& ring, const EngineProblem& p,
                                                 std::uint32_t tile, const WaitBound& bound) {
  // Acquire: what the watching warp has seen, this thread's copies are to find so, too.
  const auto there = [&] {
    return WordOfBlock(ring.arrived_below).load(cuda::memory_order_acquire) > tile;
  };
  if (tile < p.arrivals.own_tiles || there()) return true;
  const std::uint64_t start = cuda::ptx::get_sreg_globaltimer();
  while (!there())
    if (bound.lost()) return false;  // the watching warp's wait has a bound
  const std::uint64_t waited = cuda::ptx::get_sreg_globaltimer() - start;
  atomicAdd(p.arrivals.waited_ns, static_cast<unsigned long long>(waited));
  return true;
}

}  // namespace tidemark
