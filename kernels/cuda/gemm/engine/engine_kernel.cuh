// The engine: the top of the ladder with everything that can be chosen made a parameter. Tile,
// cluster, stages and split of K are fixed at compile time (TileShape); the order of tiles, the
// lead of one warpgroup over the other and the way a launch follows the one before come with the
// problem. What each thread of a block does:
//
//   thread                   does                                                in
//   0                        makes the barriers and prefetches the tensor maps   engine_kernel()
//   an elected one of 0-31   fills the ring: the producer                        produce()
//   32                       asks whether the launch before timed out            engine_kernel()
//   32-63                    watches for rows that other ranks send              arriving_tiles.cuh
//   32-127                   pack rows that TMA cannot read, and look whether    packed_tiles.cuh
//                            those of the next tile are packed
//   64                       takes the cluster's first tile of its GPC's         first_tile.cuh
//   an elected one of 96-127 prefetches what the first tile reads to L2          prefetch.cuh
//   128-383                  two consumer warpgroups multiply and store C        consume_together()
//                                                                                consume_in_turn.cuh
//
// A plain product is in this file, ring.cuh and epilogue.cuh. The other files: fp8 (promote.cuh),
// alpha and beta (blend.cuh), K split over a cluster (split_k.cuh) or shared out among clusters
// (stream_walk.hpp, stream_k.cuh), operands by type and order (operands.cuh), rows that TMA cannot
// write (plain_stores.cuh) or read (pack_rows.cuh, packed_tiles.cuh), and the four above.
#pragma once

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/engine/arriving_tiles.cuh"
#include "kernels/cuda/gemm/engine/consume_in_turn.cuh"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/epilogue.cuh"
#include "kernels/cuda/gemm/engine/first_tile.cuh"
#include "kernels/cuda/gemm/engine/pack/packed_tiles.cuh"
#include "kernels/cuda/gemm/engine/prefetch.cuh"
#include "kernels/cuda/gemm/engine/promote.cuh"
#include "kernels/cuda/gemm/engine/ring.cuh"
#include "kernels/cuda/gemm/engine/split_k.cuh"
#include "kernels/cuda/gemm/engine/stream_k.cuh"
#include "kernels/cuda/gemm/engine/tile_shape.hpp"
#include "kernels/cuda/gemm/ladder/parts.cuh"
#include "kernels/cuda/ptx/cache_hint.cuh"
#include "kernels/cuda/ptx/elect.cuh"
#include "kernels/cuda/ptx/named_barrier.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/ptx/wgmma_wide.cuh"

namespace tidemark::kernels {

/// The producer thread: fills the ring of this block, and its slices of what it shares in the
/// others'. `kKeeps` is EngineProblem::keeps: it alone issues these copies, and at 1024 a choice
/// for each of them costs 6 % of the product.
template <TileShape kShape, class Operands, bool kKeeps>
__device__ __forceinline__ void produce(EngineRing<kShape>& ring, const CUtensorMap& a_map,
                                        const CUtensorMap& b_map, const EngineProblem& p,
                                        const EnginePlace& place, const Patience& patience) {
  namespace ptx = cuda::ptx;
  constexpr std::uint32_t kSliceM = slice_m(kShape);
  constexpr std::uint32_t kSliceN = slice_b<kShape, Operands::kBMn>;
  // Of what is shared evenly the compiler is to know the end.
  constexpr bool kEvenN = kSliceN * kShape.cluster_m == kShape.tile_n;
  const ClusterPlace& in = place.in_cluster;
  const std::uint16_t a_sharers = sharers_of_a(kShape, in);
  const std::uint16_t b_sharers = sharers_of_b(kShape, in);
  const std::uint32_t own_a = in.n * kSliceM;
  const std::uint32_t own_b = in.m * kSliceN;
  const std::uint32_t left_of_b = kEvenN ? kSliceN : kShape.tile_n - own_b;
  EngineRingAt<kShape> at;
  const std::uint64_t stays = cache_policy(CacheHint::evict_last);
  const std::uint64_t a_policy = kKeeps && !p.group_along_n ? stays : kNoPolicy;
  const std::uint64_t b_policy = kKeeps && p.group_along_n ? stays : kNoPolicy;
  bool looks = p.packs;
  for (TileWalk<kShape> walk(p, place); walk.more(p); walk.next(p, place)) {
    const std::uint32_t tile = walk.tile;
    // A tile of the cluster may lie wholly outside C. Its operands are zeros then, and its slice of
    // what it shares is needed all the same.
    const SliceRows rows = slice_rows<kShape, Operands::kBMn>(p, in, tile);
    std::uint32_t k = (in.part * p.k_blocks + walk.first_block()) * Operands::kTileK;
    const std::uint32_t blocks = walk.blocks(p);
    if (!begin_tile<kShape>(ring, p, rows, tile, looks, patience)) return;
    if (!kShape.stream_k && p.epoch != 0 && !wait_for_arrival(ring, p, tile, patience)) return;
    for (std::uint32_t block = 0; block < blocks; ++block, k += Operands::kTileK) {
      // A fresh barrier counts the phase before as complete: the inverted parity lets the first
      // pass through and afterwards waits for the release by all blocks that this one loads into.
      // Without it TMA would overwrite what wgmma still reads, here or there.
      if (!wait_patiently(ring.empty[at.stage], at.parity ^ 1, patience, true) || patience.lost())
        return;
      EngineStage<kShape>& stage = ring.stage[at.stage];
      std::uint64_t* full = &ring.full[at.stage];
      // The one arrival that full[s] counts, and the bytes that land in this block, the others'
      // slices included. Those may come first: the phase stays open for this arrival.
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                     stage_bytes(kShape));
      load_slice<Operands::kAMn, kSliceM, (kShape.cluster_n > 1)>(
          stage.a + own_a * kEngineRowBytes, a_map, rows.a, k, kSliceM, full, a_sharers, a_policy);
      load_slice<Operands::kBMn, kSliceN, (kShape.cluster_m > 1)>(stage.b + own_b * kEngineRowBytes,
                                                                  b_map, rows.b, k, left_of_b, full,
                                                                  b_sharers, b_policy);
      at.advance();
    }
  }
}

/// One of two consumer warpgroups that share each tile, one half above the other. It runs on after
/// a wait that failed, over stale bytes: wgmma needs all four warps to keep step, and the host
/// discards C.
template <TileShape kShape, class Operands, class Out, bool kBlend>
__device__ __forceinline__ void consume_together(EngineRing<kShape>& ring, const CUtensorMap& c_map,
                                                 const EngineProblem& p, const EnginePlace& place,
                                                 std::uint32_t which, const Patience& patience) {
  namespace ptx = cuda::ptx;
  constexpr std::uint32_t kRows = warpgroup_rows(kShape);
  constexpr std::uint32_t kHigh = kRows / 64;  // wgmma, one below the other
  constexpr std::uint32_t kCount = accumulators(kShape);
  constexpr bool kHasRoom = kHigh * kCount <= 128 && !Operands::kPromotes;
  using Stage = EngineStage<kShape>;
  const ClusterPlace& in = place.in_cluster;
  const std::uint32_t own_row = which * kRows;
  const std::uint32_t stages_at = shared_address(ring.stage);
  const std::uint64_t first_a =
      operand_descriptor<Operands::kAMn>(stages_at + own_row * kEngineRowBytes);
  const std::uint64_t first_b = operand_descriptor<Operands::kBMn>(
      stages_at + static_cast<std::uint32_t>(offsetof(Stage, b)));
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint64_t* const told = told_by(ring, in, lane);
  EngineRingAt<kShape> at;
  bool in_time = true;
  const auto release = [&](std::uint32_t stage) {
    release_stage<kShape>(told + stage, in_time, lane);
  };
  constexpr std::uint32_t kAtOnce = Operands::kPromotes ? promoted_at_once(kShape) : kCount;
  // Parts of K end with whole blocks, zeros and all; with this choice in each half fp8 would spill.
  constexpr bool kBreaks = kShape.split == 1 && kAtOnce == kCount;
  const std::uint32_t broken_blocks = kBreaks && p.last_steps < kStepsOfStage ? 1 : 0;
  TileWalk<kShape> walk(p, place);
  // The first warpgroup is to be `lead` blocks of k ahead, so that one stores while the other
  // multiplies; equal speed then keeps it so. The second starts when the first is that far.
  const std::uint32_t lead = p.lead < p.k_blocks ? p.lead : 0;
  if (which == 1 && lead != 0 && walk.more(p)) sync_at_barrier<1, 256>();
  for (; walk.more(p); walk.next(p, place)) {
    const std::uint32_t tile = walk.tile;
    const std::uint32_t blocks = walk.blocks(p);
    const std::uint32_t whole_blocks = walk.reaches_end(p) ? blocks - broken_blocks : blocks;
    // Where registers hold it all along, the wait for the first bytes hides what it takes.
    TileAt at_c{};
    if constexpr (kHasRoom) at_c = tile_of(p, tile);
    const bool leads_off = which == 0 && walk.is_first(place) && lead != 0;
    float d[kHigh][kCount];
    if constexpr (Operands::kPromotes) start_from_zero(d);
    std::uint32_t held = 0;  // the stage that the wgmma in flight read
    const auto take_block = [&](std::uint32_t block, const auto& multiply) {
      // Without this wait wgmma would read a stage that has not arrived. The scope is this block's
      // also for what others copied: the copy's own credit orders its bytes before wgmma.
      if (in_time) in_time = wait_patiently(ring.full[at.stage], at.parity, patience, false);
      // Lanes may leave the wait's loop apart; the .aligned instructions below need them together.
      __syncwarp();
      const std::uint64_t a = first_a + at.stage * (sizeof(Stage) >> 4);
      const std::uint64_t b = first_b + at.stage * (sizeof(Stage) >> 4);
      if constexpr (Operands::kPromotes) {
        const auto add_from = [&](auto from) {
          constexpr std::uint32_t kFrom = decltype(from)::value;  // two columns, rows of B, a sum
          float partial[kHigh][kAtOnce];
          multiply(partial, a, b + 2 * kFrom * (kEngineRowBytes >> 4), 0);
          finish_stage(partial);
          if (kFrom + kAtOnce == kCount) release(at.stage);  // additions need registers only
          promote<kFrom>(d, partial);
        };
        add_from(std::integral_constant<std::uint32_t, 0>{});
        if constexpr (kAtOnce < kCount) add_from(std::integral_constant<std::uint32_t, kAtOnce>{});
      } else {
        multiply(d, a, b, block);
        wgmma_wait<1>();  // the group before this one is done: its stage can go back
        if (block != 0) release(held);
      }
      if (leads_off && block + 1 == lead) arrive_at_barrier<1, 256>();
      held = at.stage;
      at.advance();
    };
    for (std::uint32_t block = 0; block < whole_blocks; ++block)
      take_block(block, [](auto& sums, std::uint64_t a, std::uint64_t b, std::uint32_t before) {
        multiply_stage<Operands>(sums, a, b, before);
      });
    if (kBreaks && whole_blocks < blocks)
      take_block(whole_blocks,
                 [&](auto& sums, std::uint64_t a, std::uint64_t b, std::uint32_t before) {
                   multiply_last_stage<Operands>(sums, a, b, before, p.last_steps);
                 });
    // The last wgmma hide what a look into memory takes.
    if constexpr (!kHasRoom) at_c = tile_of(p, tile);
    if constexpr (!Operands::kPromotes) {
      wgmma_wait<0>();  // without it the accumulators are stored unfinished
#pragma unroll
      for (std::uint32_t high = 0; high < kHigh; ++high) hold_sums(d[high]);
      release(held);
    }
    if constexpr (kShape.stream_k) {
      if (!walk.reaches_end(p)) {
        give_sums<kShape>(d, p, place);
        continue;
      }
      if (walk.first_block() != 0) take_sums<kShape>(d, p, place, patience);
    }
    const std::uint32_t row = (at_c.m * kShape.cluster_m + in.m) * kShape.tile_m + own_row;
    const std::uint32_t column = (at_c.n * kShape.cluster_n + in.n) * kShape.tile_n;
    auto& staging = ring.staging[threadIdx.x / 32 - 4];
    if constexpr (kShape.split == 1)
      put_away<0, kCount, Out, kBlend>(staging, d, c_map, p, row, column);
    else
      put_away_parts<kShape, Out, kBlend>(reinterpret_cast<float*>(ring.stage), staging, d, c_map,
                                          p, in, row, column);
  }
  // The memory of this block must outlive what TMA still reads of it. Nobody waits for the writes:
  // the end of the kernel does.
  if (lane == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
}

template <class Shape, class Operands, class Out, bool kBlend>
__global__ void __launch_bounds__(kEngineThreads, 1)
    engine_kernel(const __grid_constant__ CUtensorMap a_map,
                  const __grid_constant__ CUtensorMap b_map,
                  const __grid_constant__ CUtensorMap c_map,
                  const __grid_constant__ EngineProblem p) {
  namespace ptx = cuda::ptx;
  constexpr TileShape kShape = Shape::kShape;
  static_assert(is_sound(kShape));
  // Else the first part of K could end before the first warpgroup is `lead` blocks ahead, and the
  // second would wait for ever.
  static_assert(!kShape.stream_k || kShape.in_turn || kShape.stages - 1 <= kLeastBlocks);
  static_assert(sizeof(EngineStage<kShape>) == stage_bytes(kShape));
  static_assert(sizeof(EngineRing<kShape>) <= shared_bytes(kShape));
  if (threadIdx.x == 0) {  // the producer's maps and the consumers'
    prefetch_tensor_map(a_map);
    prefetch_tensor_map(b_map);
    if (p.c_by_tma) prefetch_tensor_map(c_map);
  }
  // There the swizzle of TMA and that of the descriptors start at the same row.
  extern __shared__ __align__(1024) std::byte shared_memory[];
  auto& ring = *reinterpret_cast<EngineRing<kShape>*>(shared_memory);
  const Patience patience{&ring.abandoned, p.timed_out, p.bound_ns};
  EnginePlace place{
      .in_cluster = cluster_place(
          kShape, blocks_of(kShape) > 1 ? ptx::get_sreg_cluster_ctarank() : std::uint32_t{0}),
      .first = blockIdx.x / blocks_of(kShape),
      .step = gridDim.x / blocks_of(kShape)};
  // A thread of another warp than the one that makes the barriers: an answer takes as long. No
  // other launch that may run now has these words (EngineWords).
  const bool takes = p.by_gpc && threadIdx.x == 64 && blockIdx.x % blocks_of(kShape) == 0;
  if (takes) ring.first_tile = take_first_tile(p);
  if (threadIdx.x == 0) {
    for (std::uint32_t s = 0; s < kShape.stages; ++s) {
      ptx::mbarrier_init(&ring.full[s], 1);  // the announcement of this block's producer
      const std::uint32_t releases = 4 * warpgroups_of_tile(kShape) * peers_of(kShape);
      ptx::mbarrier_init(&ring.empty[s], releases);
    }
    ring.abandoned = 0;
    ring.loaded_tile = ring.packed_tile = kNoTile;
    ring.arrived_below = 0;
    publish_barriers();
  }
  // Without it other blocks' copies and arrivals may find barriers that do not exist yet, the
  // consumers those of whatever ran here before, and all a tile that nobody took.
  synchronise_blocks<kShape>();
  if (p.by_gpc) place.first = first_tile_of_cluster(ring);
  // A warp that has nothing else to do: the producer's would begin to load later.
  if (p.prefetches && __shfl_sync(0xffffffffU, threadIdx.x / 32, 0) == 3 && is_elected())
    prefetch_first_tile<kShape, Operands>(a_map, b_map, p, place);
  // Up to here this launch may run beside the end of the one before it. That one has written A, B
  // or C, or still reads what this one overwrites: nobody passes before all of it is done. A launch
  // that was not made early passes at once.
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();  // and the next may come that far
  // Some tile is nobody's then. Not before: the launch before would take it for its own lost wait.
  if (takes && place.first == nobodys_tile(p))
    *patience.timed_out = timed_out_word({.producer = true, .block = blockIdx.x});
  // A launch before this one timed out: this one starts as if it had. A thread of another warp than
  // the producer's asks: that one would begin to load only when the answer is there.
  if (threadIdx.x == 32 && *patience.timed_out != 0) ring.abandoned = 1;

  // From lane 0, so that the compiler sees one value a warp and setmaxnreg's branch is uniform.
  const std::uint32_t warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / 128, 0);
  if (warpgroup == 0) {
    // Without the exchange the accumulators, descriptors and pointers of a consumer would spill.
    setmaxnreg_dec<kProducerRegisters>();
    // Not before: the consumers, who wait for these registers, would wait for the answer, too.
    if (takes) put_tiles_back(p, place.step);
    if (__shfl_sync(0xffffffffU, threadIdx.x / 32, 0) == 0 && is_elected()) {
      if (!kShape.stream_k && p.keeps)
        produce<kShape, Operands, true>(ring, a_map, b_map, p, place, patience);
      else
        produce<kShape, Operands, false>(ring, a_map, b_map, p, place, patience);
    } else if (!kShape.stream_k && p.epoch != 0 && threadIdx.x / 32 == 1) {
      // Else, not behind: what this warp works with would take the producer's registers.
      watch_arrivals<kShape>(ring, p, place, patience);
    }
    if (kShape.split == 1 && !kShape.stream_k && p.packs && threadIdx.x >= 32)
      pack_and_look<kShape>(ring, p, place, threadIdx.x < 64, patience);
    __syncwarp();  // lanes wait for the producer here rather than inside the cluster's barrier
    if constexpr (kShape.split > 1) {  // the two barriers in put_away_parts
      synchronise_blocks<kShape>();
      synchronise_blocks<kShape>();
    }
  } else {
    setmaxnreg_inc<kConsumerRegisters>();
    if constexpr (kShape.in_turn)
      consume_in_turn<kShape, Operands, Out, kBlend>(ring, c_map, p, place, warpgroup - 1,
                                                     patience);
    else
      consume_together<kShape, Operands, Out, kBlend>(ring, c_map, p, place, warpgroup - 1,
                                                      patience);
  }
  leave(patience);
  // The consumers have waited for all that lands here. But other blocks still arrive on these
  // barriers, and after a time-out their copies may land: neither may find a block that has ended.
  synchronise_blocks<kShape>();
}

}  // namespace tidemark::kernels
