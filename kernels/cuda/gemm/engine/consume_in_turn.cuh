// Consumer warpgroups that multiply tiles of their own, in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/epilogue.cuh"
#include "kernels/cuda/gemm/engine/ring.cuh"
#include "kernels/cuda/gemm/engine/stream_k.cuh"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"
#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/ptx/named_barrier.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace tidemark::kernels {

/// All threads of warpgroup `which` of two wait until the other has given it its turn.
__device__ __forceinline__ void wait_for_turn(std::uint32_t which) {
  if (which == 0)
    sync_at_barrier<1, 256>();
  else
    sync_at_barrier<2, 256>();
}
__device__ __forceinline__ void give_turn(std::uint32_t which) {
  if (which == 0)
    arrive_at_barrier<2, 256>();
  else
    arrive_at_barrier<1, 256>();
}

/// One of two consumer warpgroups that have every other tile each ("ping-pong"): one stores while
/// the other multiplies, and passes over the stages of the other's tiles. In all else as
/// consume_together() of engine_kernel.cuh.
template <TileShape kShape, class Operands, class Out, bool kBlend>
__device__ __forceinline__ void consume_in_turn(EngineRing<kShape>& ring, const CUtensorMap& c_map,
                                                const EngineProblem& p, const EnginePlace& place,
                                                std::uint32_t which, const Patience& patience) {
  namespace ptx = cuda::ptx;
  constexpr std::uint32_t kRows = warpgroup_rows(kShape);
  constexpr std::uint32_t kHigh = kRows / 64;  // wgmma, one below the other
  constexpr std::uint32_t kCount = accumulators(kShape);
  constexpr bool kHasRoom = kHigh * kCount <= 128;
  using Stage = EngineStage<kShape>;
  const ClusterPlace& in = place.in_cluster;
  const std::uint32_t stages_at = shared_address(ring.stage);
  const std::uint64_t first_a = operand_descriptor<Operands::kAMn>(stages_at);
  const std::uint64_t first_b = operand_descriptor<Operands::kBMn>(
      stages_at + static_cast<std::uint32_t>(offsetof(Stage, b)));
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint64_t* const told = told_by(ring, in, lane);
  EngineRingAt<kShape> at;
  bool in_time = true;
  const auto release = [&](std::uint32_t stage) {
    release_stage<kShape>(told + stage, in_time, lane);
  };
  const std::uint32_t broken_blocks = p.last_steps < kStepsOfStage ? 1 : 0;
  TileWalk<kShape> walk(p, place);
  const auto pass_over = [&] {
    at.skip(walk.blocks(p));
    walk.next(p, place);
  };
  if (which == 1) pass_over();
  while (walk.more(p)) {
    const std::uint32_t tile = walk.tile;
    const std::uint32_t blocks = walk.blocks(p);
    const std::uint32_t whole_blocks = walk.reaches_end(p) ? blocks - broken_blocks : blocks;
    // Where registers hold it all along, the wait for the first bytes hides what it takes.
    TileAt at_c{};
    if constexpr (kHasRoom) at_c = tile_of(p, tile);
    // Until the other has seen its last stage arrive. Without it this one would wait for a phase
    // that is two or more ahead of the barrier's, and parity cannot tell it from an earlier one.
    if (!walk.is_first(place)) wait_for_turn(which);
    float d[kHigh][kCount];
    std::uint32_t held = 0;  // the stage that the wgmma in flight read
    const auto take_block = [&](std::uint32_t block, const auto& multiply) {
      // Without this wait wgmma would read a stage that has not arrived. The scope is this block's
      // also for what others copied: the copy's own credit orders its bytes before wgmma.
      if (in_time) in_time = wait_patiently(ring.full[at.stage], at.parity, patience, false);
      // Lanes may leave the wait's loop apart; the .aligned instructions below need them together.
      __syncwarp();
      const std::uint64_t a = first_a + at.stage * (sizeof(Stage) >> 4);
      const std::uint64_t b = first_b + at.stage * (sizeof(Stage) >> 4);
      multiply(d, a, b, block);
      wgmma_wait<1>();  // the group before this one is done: its stage can go back
      if (block != 0) release(held);
      held = at.stage;
      at.advance();
    };
    for (std::uint32_t block = 0; block < whole_blocks; ++block)
      take_block(block, [](auto& sums, std::uint64_t a, std::uint64_t b, std::uint32_t before) {
        multiply_stage<Operands>(sums, a, b, before);
      });
    if (whole_blocks < blocks)
      take_block(whole_blocks,
                 [&](auto& sums, std::uint64_t a, std::uint64_t b, std::uint32_t before) {
                   multiply_last_stage<Operands>(sums, a, b, before, p.last_steps);
                 });
    if (!walk.is_last(p, place)) give_turn(which);  // none is given that nobody takes
    // The last wgmma hide what a look into memory takes.
    if constexpr (!kHasRoom) at_c = tile_of(p, tile);
    wgmma_wait<0>();  // without it the accumulators are stored unfinished
#pragma unroll
    for (std::uint32_t high = 0; high < kHigh; ++high) hold_sums(d[high]);
    release(held);
    const std::uint32_t row = (at_c.m * kShape.cluster_m + in.m) * kShape.tile_m;
    const std::uint32_t column = (at_c.n * kShape.cluster_n + in.n) * kShape.tile_n;
    auto& staging = ring.staging[threadIdx.x / 32 - 4];
    const bool gives = !walk.reaches_end(p);
    const bool takes = walk.first_block() != 0;
    walk.next(p, place);
    pass_over();
    if constexpr (kShape.stream_k) {
      if (gives) {
        give_sums<kShape>(d, p, place);
        continue;
      }
      if (takes) take_sums<kShape>(d, p, place, patience);
    }
    put_away<0, kCount, Out, kBlend>(staging, d, c_map, p, row, column);
  }
  // The memory of this block must outlive what TMA still reads of it. Nobody waits for the writes:
  // the end of the kernel does.
  if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

}  // namespace tidemark::kernels
