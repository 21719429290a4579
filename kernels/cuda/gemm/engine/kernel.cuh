// The engine: the top rung of the ladder with everything that can be chosen made a parameter. Tile,
// cluster and stages are fixed at compile time (TileShape); the order of tiles, stream-K, the
// stagger of the warpgroups and PDL come with the problem. What each thread of a CTA does:
//
//   thread                   does                                                in
//   0                        makes the barriers and prefetches the tensor maps   engine_kernel()
//   an elected one of 0-31   fills the ring: the producer                        produce()
//   32                       asks whether the launch before timed out            engine_kernel()
//   32-63                    watches for rows that other ranks send              arriving_tiles.cuh
//   64                       takes the cluster's first tile of its GPC           take_first_tile()
//   an elected one of 96-127 prefetches what the first tile reads to L2 prefetch_first_tile()
//   128-383                  two consumer warpgroups multiply and store C        consume()
//                                                                                fp8.cuh
//
// The ring and its waits are in ring.cuh, the end of a tile in epilogue.cuh.
#pragma once

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <cuda/ptx>

#include "kernels/cuda/gemm/engine/arriving_tiles.cuh"
#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/epilogue.cuh"
#include "kernels/cuda/gemm/engine/fp8.cuh"
#include "kernels/cuda/gemm/engine/ring.cuh"
#include "kernels/cuda/ptx/barriers.cuh"

namespace tidemark {

// The first tile of a cluster.

/// The tile behind the last one: a cluster that begins with it has nothing to do.
__device__ __forceinline__ std::uint32_t invalid_tile(const EngineProblem& p) {
  return p.m_tiles * p.n_tiles;
}

/// The next tile of this SM's GPC, or of the next GPC that has one left: a launch that shares the
/// device has not as many clusters in each GPC as it would alone. There are as many tiles as
/// clusters, and no two take the same one, wherever they run. invalid_tile() where none is left, as
/// of words that were not zero or that another launch has, too.
__device__ __forceinline__ std::uint32_t take_first_tile(const EngineProblem& p) {
  const GpcTiles& of = p.gpc_tiles;
  const std::uint32_t sm = cuda::ptx::get_sreg_smid();
  std::uint32_t gpc = sm < kMostPlacedSms ? of.gpc_of_sm[sm] : 0;
  for (std::uint32_t i = 0; i < of.gpcs; ++i) {
    const std::uint32_t begin = of.begin[gpc];
    const std::uint32_t count = of.begin[gpc + 1] - begin;
    const std::uint32_t at = WordOfGpu(p.shares[1 + gpc]).fetch_add(1, cuda::memory_order_relaxed);
    if (at < count) return of.tiles[begin + at];
    gpc = gpc + 1 == of.gpcs ? 0 : gpc + 1;
  }
  return invalid_tile(p);
}

/// What the first CTA of the cluster took, in all of them; a barrier of the cluster must lie
/// between. From lane 0: a tile that could differ between lanes would cost the compiler its proof
/// that the descriptors of wgmma are uniform (ci/check_machine_code).
template <TileShape kShape>
__device__ __forceinline__ std::uint32_t first_tile_of_cluster(EngineRing<kShape>& ring) {
  const std::uint32_t* tile = &ring.first_tile;
  if constexpr (kShape.cluster_m > 1)
    tile = cooperative_groups::this_cluster().map_shared_rank(&ring.first_tile, 0);
  return __shfl_sync(0xffffffffU, *tile, 0);
}

/// The last of `clusters` to have taken a tile leaves the words as it found them. Acquire and
/// release, or what others took could come behind the zeros.
__device__ __forceinline__ void put_tiles_back(const EngineProblem& p, std::uint32_t clusters) {
  if (WordOfGpu(p.shares[0]).fetch_add(1, cuda::memory_order_acq_rel) + 1 != clusters) return;
  for (std::uint32_t i = 0; i < 1 + p.gpc_tiles.gpcs; ++i)
    WordOfGpu(p.shares[i]).store(0, cuda::memory_order_relaxed);
}

/// The box at `inner`, `outer` of `map` to L2. No signal says when it is there, nothing is ordered
/// behind it. PTX ISA 9.0, cp.async.bulk.prefetch.tensor; cuda::ptx lacks it.
__device__ __forceinline__ void prefetch_box(const CUtensorMap& map, std::uint32_t inner,
                                             std::uint32_t outer) {
  asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];"
               :
               : "l"(&map), "r"(inner), "r"(outer)
               : "memory");
}

/// As load_slice() would load it.
template <bool kMn, std::uint32_t kRows>
__device__ __forceinline__ void prefetch_slice(const CUtensorMap& map, std::uint32_t mn,
                                               std::uint32_t k) {
  if constexpr (!kMn) {
    prefetch_box(map, k, mn);
  } else {
#pragma unroll
    for (std::uint32_t i = 0; i < kRows; i += 64) prefetch_box(map, mn + i, k);
  }
}

/// One thread: this CTA's share of the first k-blocks of its first tile, about what a ring holds
/// (16 k-blocks are slower than none, NOTES.md). CTAs that begin with the same rows of A have
/// another column of tiles, and the other way round: one in kSharers of them asks for a box. The
/// launch before may still write there: L2 is where its writes go, too, and no byte is taken before
/// its end has been waited for.
template <TileShape kShape, class Operands>
__device__ __forceinline__ void prefetch_first_tile(const CUtensorMap& a_map,
                                                    const CUtensorMap& b_map,
                                                    const EngineProblem& p,
                                                    const EnginePlace& place) {
  constexpr std::uint32_t kBlocks = 4, kSharers = 4;
  const EngineWalk walk(p, place);
  if (!walk.more(p)) return;
  const TileAt at_c = tile_of(p, walk.tile);
  const SliceRows rows = slice_rows<kShape, Operands>(p, place.rank, walk.tile);
  const std::uint32_t blocks = min(walk.count, kBlocks);
  const std::uint32_t a_sharers = min(p.n_tiles, kSharers);
  const std::uint32_t b_sharers = min(p.m_tiles, kSharers);
  for (std::uint32_t block = at_c.n % a_sharers; block < blocks; block += a_sharers)
    prefetch_slice<Operands::kAMn, kShape.tile_m>(a_map, rows.a,
                                                  (walk.first + block) * Operands::kTileK);
  for (std::uint32_t block = at_c.m % b_sharers; block < blocks; block += b_sharers)
    prefetch_slice<Operands::kBMn, kSliceOfB<kShape, Operands>>(
        b_map, rows.b, (walk.first + block) * Operands::kTileK);
}

// Roles.

/// The producer thread: fills the ring of this CTA, and its slices of B in the others'.
template <TileShape kShape, class Operands>
__device__ __forceinline__ void produce(EngineRing<kShape>& ring, const CUtensorMap& a_map,
                                        const CUtensorMap& b_map, const EngineProblem& p,
                                        const EnginePlace& place, const WaitBound& bound) {
  namespace ptx = cuda::ptx;
  constexpr std::uint32_t kSliceN = kSliceOfB<kShape, Operands>;
  // Of what is shared evenly the compiler is to know the end.
  constexpr bool kEvenN = kSliceN * kShape.cluster_m == kShape.tile_n;
  const std::uint32_t own_b = place.rank * kSliceN;
  const std::uint32_t left_of_b = kEvenN ? kSliceN : kShape.tile_n - own_b;
  RingPosition<kShape> at;
  for (EngineWalk walk(p, place); walk.more(p); walk.next(p, place)) {
    // A tile of the cluster may lie wholly outside C. Its operands are zeros then, and its slice of
    // B is needed all the same.
    const SliceRows rows = slice_rows<kShape, Operands>(p, place.rank, walk.tile);
    std::uint32_t k = walk.first * Operands::kTileK;
    if (p.epoch != 0 && !wait_for_arrival(ring, p, walk.tile, bound)) return;
    for (std::uint32_t block = 0; block < walk.count; ++block, k += Operands::kTileK) {
      // A fresh barrier counts the phase before as complete: the inverted parity lets the first
      // pass through and afterwards waits for the release by all CTAs that this one loads into.
      // Without it TMA would overwrite what wgmma still reads, here or there.
      if (!wait_within_bound(ring.empty[at.stage], at.parity ^ 1, bound, true) || bound.lost())
        return;
      EngineStage<kShape>& stage = ring.stage[at.stage];
      std::uint64_t* full = &ring.full[at.stage];
      // The one arrival that full[s] counts, and the bytes that land in this CTA, the others'
      // slices included. Those may come first: the phase stays open for this arrival.
      ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, full,
                                     stage_bytes(kShape));
      load_slice<Operands::kAMn, kShape.tile_m, 1>(stage.a, a_map, rows.a, k, kShape.tile_m, full);
      load_slice<Operands::kBMn, kSliceN, kShape.cluster_m>(stage.b + own_b * kEngineRowBytes,
                                                            b_map, rows.b, k, left_of_b, full);
      at.advance();
    }
  }
}

/// With ping-pong: all threads of warpgroup `which` of two wait until the other has given it its
/// turn.
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

/// One of two consumer warpgroups. They share each tile, one half above the other, the first one
/// a k-block ahead (EngineProblem::stagger), so that one stores while the other multiplies; equal
/// speed then keeps it so. With ping-pong each has every other tile and passes over the stages of
/// the other's.
template <TileShape kShape, class Operands, class Out, bool kBlend>
__device__ __forceinline__ void consume(EngineRing<kShape>& ring, const CUtensorMap& c_map,
                                        const EngineProblem& p, const EnginePlace& place,
                                        std::uint32_t which, const WaitBound& bound) {
  namespace ptx = cuda::ptx;
  constexpr bool kPingPong = kShape.ping_pong;
  constexpr std::uint32_t kRows = warpgroup_rows(kShape);
  constexpr std::uint32_t kHigh = kRows / 64;  // wgmma, one below the other
  constexpr std::uint32_t kCount = accumulators(kShape);
  constexpr bool kHasRoom = kHigh * kCount <= 128;
  const std::uint32_t own_row = kPingPong ? 0 : which * kRows;
  RingReader<kShape, Operands> reader(ring, bound, own_row);
  const std::uint32_t broken_blocks = p.last_steps < kStepsOfStage ? 1 : 0;
  EngineWalk walk(p, place);
  const auto pass_over = [&] {
    reader.at.skip(walk.count);
    walk.next(p, place);
  };
  if (which == 1) {
    if constexpr (kPingPong)
      pass_over();
    else if (p.stagger && walk.more(p))
      sync_at_barrier<1, 256>();
  }
  while (walk.more(p)) {
    const std::uint32_t tile = walk.tile;
    const std::uint32_t blocks = walk.count;
    const std::uint32_t whole_blocks = walk.reaches_end(p) ? blocks - broken_blocks : blocks;
    // Where registers hold it all along, the wait for the first bytes hides what it takes.
    TileAt at_c{};
    if constexpr (kHasRoom) at_c = tile_of(p, tile);
    // Until the other has seen its last stage arrive. Without it this one would wait for a phase
    // that is two or more ahead of the barrier's, and parity cannot tell it from an earlier one.
    if (kPingPong && !walk.is_at_first) wait_for_turn(which);
    const bool leads_off = !kPingPong && which == 0 && p.stagger && walk.is_at_first;
    float d[kHigh][kCount];
    std::uint32_t held = 0;  // the stage that the wgmma in flight read
    const auto take_block = [&](std::uint32_t block, const auto& multiply) {
      reader.wait();
      multiply(d, reader.a_here(), reader.b_here(), block);
      wgmma_wait<1>();  // the group before this one is done: its stage can go back
      if (block != 0) reader.release(held);
      if (leads_off && block == 0) arrive_at_barrier<1, 256>();
      held = reader.at.stage;
      reader.at.advance();
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
    // None is given that nobody takes.
    if (kPingPong && !walk.is_last(p, place)) give_turn(which);
    // The last wgmma hide what a look into memory takes.
    if constexpr (!kHasRoom) at_c = tile_of(p, tile);
    wgmma_wait<0>();  // without it the accumulators are stored unfinished
#pragma unroll
    for (std::uint32_t high = 0; high < kHigh; ++high) hold_sums(d[high]);
    reader.release(held);
    const std::uint32_t row = (at_c.m * kShape.cluster_m + place.rank) * kShape.tile_m + own_row;
    const std::uint32_t column = at_c.n * kShape.tile_n;
    const bool gives = !walk.reaches_end(p);
    const bool takes = walk.first != 0;
    walk.next(p, place);
    if constexpr (kPingPong) pass_over();
    if (gives) {
      give_sums<kShape>(d, p, place);
      continue;
    }
    if (takes) take_sums<kShape>(d, p, place, bound);
    store_tile<Out, kBlend>(ring.staging[threadIdx.x / 32 - 4], d, c_map, p, row, column);
  }
  // The memory of this CTA must outlive what TMA still reads of it. Nobody waits for the writes:
  // the end of the kernel does.
  if (threadIdx.x % 32 == 0) ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>{});
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
  const WaitBound bound{&ring.abandoned, p.timed_out, p.bound_ns};
  EnginePlace place{.rank = kShape.cluster_m > 1 ? ptx::get_sreg_cluster_ctarank() : 0U,
                    .first = blockIdx.x / kShape.cluster_m,
                    .step = gridDim.x / kShape.cluster_m};
  // A thread of another warp than the one that makes the barriers: an answer takes as long. No
  // other launch that may run now has these words (EngineWords).
  const bool takes = p.by_gpc && threadIdx.x == 64 && blockIdx.x % kShape.cluster_m == 0;
  if (takes) ring.first_tile = take_first_tile(p);
  if (threadIdx.x == 0) {
    for (std::uint32_t s = 0; s < kShape.stages; ++s) {
      ptx::mbarrier_init(&ring.full[s], 1);  // expect_tx of this CTA's producer
      ptx::mbarrier_init(&ring.empty[s], 4 * warpgroups_of_tile(kShape) * kShape.cluster_m);
    }
    ring.abandoned = 0;
    ring.arrived_below = 0;
    publish_barriers();
  }
  // Without it other CTAs' copies and arrivals may find barriers that do not exist yet, the
  // consumers those of whatever ran here before, and all a tile that was not taken.
  synchronize_ctas<kShape>();
  if (p.by_gpc) place.first = first_tile_of_cluster(ring);
  // A warp that has nothing else to do: the producer's would begin to load later.
  if (p.prefetches && __shfl_sync(0xffffffffU, threadIdx.x / 32, 0) == 3 && is_elected())
    prefetch_first_tile<kShape, Operands>(a_map, b_map, p, place);
  // Up to here this launch may run beside the end of the one before it. That one has written A, B
  // or C, or still reads what this one overwrites: nobody passes before all of it is done. A launch
  // without PDL passes at once.
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();  // and the next may come that far
  // Some tile is left out then. Not before: the launch before would take it for its own lost wait.
  if (takes && place.first == invalid_tile(p))
    *bound.timed_out = timed_out_word({.producer = true, .block = blockIdx.x});
  // A launch before this one timed out: this one starts as if it had. A thread of another warp than
  // the producer's asks: that one would begin to load only when the answer is there.
  if (threadIdx.x == 32 && *bound.timed_out != 0) ring.abandoned = 1;

  // From lane 0, so that the compiler sees one value a warp and setmaxnreg's branch is uniform.
  const std::uint32_t warpgroup = __shfl_sync(0xffffffffU, threadIdx.x / 128, 0);
  if (warpgroup == 0) {
    // Without the exchange the accumulators, descriptors and pointers of a consumer would spill.
    setmaxnreg_dec<kProducerRegisters>();
    // Not before: the consumers, who wait for these registers, would wait for the answer, too.
    if (takes) put_tiles_back(p, place.step);
    if (__shfl_sync(0xffffffffU, threadIdx.x / 32, 0) == 0 && is_elected())
      produce<kShape, Operands>(ring, a_map, b_map, p, place, bound);
    else if (p.epoch != 0 && threadIdx.x / 32 == 1)
      watch_arrivals<kShape>(ring, p, place, bound);
    __syncwarp();  // lanes wait for the producer here rather than inside the cluster's barrier
  } else {
    setmaxnreg_inc<kConsumerRegisters>();
    if constexpr (Operands::kFp8)
      consume_fp8<kShape, Operands, Out>(ring, c_map, p, place, warpgroup - 1, bound);
    else
      consume<kShape, Operands, Out, kBlend>(ring, c_map, p, place, warpgroup - 1, bound);
  }
  leave(bound);
  // The consumers have waited for all that lands here. But other CTAs still arrive on these
  // barriers, and after a time-out their copies may land: neither may find a CTA that has ended.
  synchronize_ctas<kShape>();
}

}  // namespace tidemark
