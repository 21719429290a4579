// Consumers of fp8. The tensor cores keep about 14 bits of a sum of fp8 products: each stage is
// therefore summed from zero, and added to fp32 sums that only CUDA cores touch (promotion).
#pragma once

#include <cstdint>
#include <cuda/ptx>
#include <type_traits>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/epilogue.cuh"
#include "kernels/cuda/gemm/engine/ring.cuh"
#include "kernels/cuda/ptx/barriers.cuh"

namespace tidemark {

/// As consume() of kernel.cuh, of two warpgroups that share each tile. A thread holds the sums that
/// it promotes at once twice, all of them, or one half and then the other.
template <TileShape kShape, class Operands, class Out>
__device__ __forceinline__ void consume_fp8(EngineRing<kShape>& ring, const CUtensorMap& c_map,
                                            const EngineProblem& p, const EnginePlace& place,
                                            std::uint32_t which, const WaitBound& bound) {
  namespace ptx = cuda::ptx;
  static_assert(!kShape.ping_pong && warpgroup_rows(kShape) == 64);
  constexpr std::uint32_t kCount = accumulators(kShape);
  constexpr std::uint32_t kAtOnce = promoted_at_once(kShape);
  // In halves a stage is multiplied to its end, zeros and all: with this choice in each half the
  // sums would spill.
  constexpr bool kBreaks = kAtOnce == kCount;
  const std::uint32_t own_row = which * 64;
  RingReader<kShape, Operands> reader(ring, bound, own_row);
  const std::uint32_t broken_blocks = kBreaks && p.last_steps < kStepsOfStage ? 1 : 0;
  EngineWalk walk(p, place);
  if (which == 1 && p.stagger && walk.more(p)) sync_at_barrier<1, 256>();
  while (walk.more(p)) {
    const std::uint32_t tile = walk.tile;
    const std::uint32_t blocks = walk.count;
    const std::uint32_t whole_blocks = walk.reaches_end(p) ? blocks - broken_blocks : blocks;
    const bool leads_off = which == 0 && p.stagger && walk.is_at_first;
    float d[1][kCount];
#pragma unroll
    for (std::uint32_t i = 0; i < kCount; ++i) d[0][i] = 0;
    const auto take_block = [&](std::uint32_t block, const auto& multiply) {
      reader.wait();
      const auto add_from = [&](auto from) {
        constexpr std::uint32_t kFrom = decltype(from)::value;  // two columns, rows of B, a sum
        float partial[1][kAtOnce];
        multiply(partial, reader.a_here(), reader.b_here() + 2 * kFrom * (kEngineRowBytes >> 4));
        // Without the wait unfinished sums would be added; the other warpgroup's wgmma keep the
        // tensor cores busy meanwhile.
        wgmma_wait<0>();
        hold_sums(partial[0]);
        if (kFrom + kAtOnce == kCount) reader.release(reader.at.stage);  // only registers from here
#pragma unroll
        for (std::uint32_t i = 0; i < kAtOnce; ++i) d[0][kFrom + i] += partial[0][i];
      };
      add_from(std::integral_constant<std::uint32_t, 0>{});
      if constexpr (kAtOnce < kCount) add_from(std::integral_constant<std::uint32_t, kAtOnce>{});
      if (leads_off && block == 0) arrive_at_barrier<1, 256>();
      reader.at.advance();
    };
    for (std::uint32_t block = 0; block < whole_blocks; ++block)
      take_block(block, [](auto& sums, std::uint64_t a, std::uint64_t b) {
        multiply_stage<Operands>(sums, a, b, 0);
      });
    if (kBreaks && whole_blocks < blocks)
      take_block(whole_blocks, [&](auto& sums, std::uint64_t a, std::uint64_t b) {
        multiply_last_stage<Operands>(sums, a, b, 0, p.last_steps);
      });
    const TileAt at_c = tile_of(p, tile);
    const bool gives = !walk.reaches_end(p);
    const bool takes = walk.first != 0;
    walk.next(p, place);
    if (gives) {
      give_sums<kShape>(d, p, place);
      continue;
    }
    if (takes) take_sums<kShape>(d, p, place, bound);
    const std::uint32_t row = (at_c.m * kShape.cluster_m + place.rank) * kShape.tile_m + own_row;
    store_tile<Out, true>(ring.staging[threadIdx.x / 32 - 4], d, c_map, p, row,
                          at_c.n * kShape.tile_n);
  }
  // The memory of this CTA must outlive what TMA still reads of it.
  if (threadIdx.x % 32 == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

}  // namespace tidemark
