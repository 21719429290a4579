// What each step of a program does on a GPU. kernels/ops/program.hpp says what it is to do.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>
#include <utility>

#include "kernels/cuda/program_kernel.hpp"
#include "kernels/cuda/ptx/box_policy.cuh"
#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/im2col.cuh"
#include "kernels/cuda/ptx/prefetch.cuh"
#include "kernels/cuda/ptx/replace_map.cuh"
#include "kernels/cuda/tile_window.cuh"

namespace tidemark::kernels {

namespace ptx = cuda::ptx;

/// What a CTA keeps in shared memory beside its window.
struct CtaState {
  std::uint64_t barriers[kProgramBarriers];
  std::uint8_t current[kProgramBarriers];  // parity of the phase that each barrier is in
  bool stopped;
  std::uint32_t missing;
  std::uint32_t stopped_at;  // step
  alignas(128) CUtensorMap edited;
};

/// What every step works on.
struct Cta {
  const ProgramTask& task;
  const CUtensorMap* maps;     // of this program
  const std::uint8_t* ranks;   // of its maps
  const std::uint8_t* places;  // of its maps in global memory
  std::uint8_t* window;
  CtaState& state;
  std::uint32_t rank;  // in the cluster
  std::uint32_t ctas;  // of the cluster
};

/// Every thread of every CTA of the cluster. Release and acquire: what was written to shared memory
/// before is seen behind it, in all of them.
__device__ inline void synchronise_cluster() {
  ptx::barrier_cluster_arrive(ptx::sem_release);
  ptx::barrier_cluster_wait(ptx::sem_acquire);
}

__device__ inline std::uint32_t parity_of(const Cta& cta, const Step& step) {
  if (step.parity == kCurrentPhase) return cta.state.current[step.barrier];
  if (step.parity == kLastPhase) return cta.state.current[step.barrier] ^ 1U;
  return step.parity;
}

/// The barrier in the shared memory of another CTA of the cluster.
__device__ inline std::uint64_t* remote(const Cta& cta, const Step& step) {
  return cooperative_groups::this_cluster().map_shared_rank(&cta.state.barriers[step.barrier],
                                                            step.of);
}

__device__ inline bool is_remote(const Step& step) { return step.of != kOwnCta; }

__device__ inline void init(const Cta& cta, const Step& step) {
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  ptx::mbarrier_init(barrier, step.count);
  // A copy's complete_tx is an access at cluster scope: unfenced it may find the memory as it was
  // before the init, which may be the plain word of a life before.
  ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  // And it comes through the async proxy, which sees an ordinary write only behind this fence.
  ptx::fence_proxy_async(ptx::space_shared);
  cta.state.current[step.barrier] = 0;
}

__device__ inline void arrive(const Cta& cta, const Step& step) {
  // The remote forms return no state.
  if (is_remote(step))
    ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                         remote(cta, step));
  else
    (void)ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                               &cta.state.barriers[step.barrier]);
}

__device__ inline void expect_tx(const Cta& cta, const Step& step) {
  if (is_remote(step))
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_cluster,
                            remote(cta, step), step.bytes);
  else
    ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared,
                            &cta.state.barriers[step.barrier], step.bytes);
}

__device__ inline void arrive_expect_tx(const Cta& cta, const Step& step) {
  if (is_remote(step))
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cluster, ptx::space_cluster,
                                   remote(cta, step), step.bytes);
  else
    (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         &cta.state.barriers[step.barrier], step.bytes);
}

/// The fused steps of Verb::meter.
__device__ inline std::uint64_t meter(const Cta& cta, const Step& step) {
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  const std::uint32_t parity = parity_of(cta, step);
  const bool complete = ptx::mbarrier_test_wait_parity(barrier, parity);
  const std::uint32_t phase = complete ? parity ^ 1U : parity;
  for (std::uint32_t i = complete ? step.count : step.pending; i > 0; --i)
    (void)ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, barrier);
  bool settled = ptx::mbarrier_test_wait_parity(barrier, phase);
  std::int32_t residue = 0;
  if (!settled) {
    if (step.bytes > 0)
      ptx::mbarrier_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, barrier,
                              step.bytes);
    if (step.stride > 0) mbarrier_complete_tx(barrier, step.stride);
    std::uint32_t taken = 0;
    settled = ptx::mbarrier_test_wait_parity(barrier, phase);
    while (!settled && taken < step.most) {
      mbarrier_complete_tx(barrier, 1);
      ++taken;
      settled = ptx::mbarrier_test_wait_parity(barrier, phase);
    }
    residue =
        static_cast<std::int32_t>(step.stride + taken) - static_cast<std::int32_t>(step.bytes);
  }
  if (settled)
    cta.state.current[step.barrier] = static_cast<std::uint8_t>(phase ^ 1U);
  else
    cta.state.stopped = true;
  return meter_trace(complete, settled, residue);
}

/// The step's map: a kernel parameter, or in global memory.
__device__ inline const CUtensorMap* map_of(const Cta& cta, const Step& step) {
  const std::uint8_t place = cta.places[step.map];
  return place == kEncoded ? &cta.maps[step.map] : &cta.task.maps[place];
}

template <std::uint32_t kRank>
__device__ inline void load_of_rank(const Cta& cta, const Step& step) {
  std::int32_t at[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) at[i] = step.at[i];
  const CUtensorMap* const map = map_of(cta, step);
  std::uint8_t* const to = cta.window + step.offset;
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  // A multicast names its own window and barrier: what counts are their places, which are the same
  // in every CTA of a kernel.
  if (step.hint != CacheHint::none && step.mask != 0)
    multicast_box_with_policy<kRank>(to, map, at, barrier, step.mask, cache_policy(step.hint));
  else if (step.hint != CacheHint::none)
    load_tile_with_policy<kRank>(to, map, at, barrier, cache_policy(step.hint));
  else if (step.mask != 0)
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, at, barrier,
                              step.mask);
  else
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, at, barrier);
}

/// cp.reduce.async.bulk.tensor, whose operation is part of the instruction.
template <std::uint32_t kRank>
__device__ inline void reduce_of_rank(const CUtensorMap* map, const std::int32_t (&at)[kRank],
                                      const std::uint8_t* from, Reduction reduction) {
  const auto reduce = [&](auto operation) {
    ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, operation, map, at,
                                     from);
  };
  if (reduction == Reduction::add) reduce(ptx::op_add);
  if (reduction == Reduction::min) reduce(ptx::op_min);
  if (reduction == Reduction::max) reduce(ptx::op_max);
  if (reduction == Reduction::inc) reduce(ptx::op_inc);
  if (reduction == Reduction::dec) reduce(ptx::op_dec);
  if (reduction == Reduction::bit_and) reduce(ptx::op_and_op);
  if (reduction == Reduction::bit_or) reduce(ptx::op_or_op);
  if (reduction == Reduction::bit_xor) reduce(ptx::op_xor_op);
}

template <std::uint32_t kRank>
__device__ inline void store_of_rank(const Cta& cta, const Step& step) {
  std::int32_t at[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) at[i] = step.at[i];
  const CUtensorMap* const map = map_of(cta, step);
  const std::uint8_t* const from = cta.window + step.offset;
  if (step.reduction != Reduction::none && step.hint != CacheHint::none)
    reduce_box_with_policy<kRank>(from, map, at, step.reduction, cache_policy(step.hint));
  else if (step.reduction != Reduction::none)
    reduce_of_rank<kRank>(map, at, from, step.reduction);
  else if (step.hint == CacheHint::none)
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, map, at, from);
  else
    store_box_with_policy<kRank>(from, map, at, cache_policy(step.hint));
}

/// Whether the step's map is TensorMapSpec::bulk: none was encoded.
__device__ inline bool is_bulk(const Cta& cta, const Step& step) {
  return cta.ranks[step.map] == 0;
}

/// The first byte of the step's elements in global memory, and how many they are.
struct BulkRange {
  std::uint8_t* memory;
  std::uint32_t bytes;
};
__device__ inline BulkRange range_of(const Cta& cta, const Step& step) {
  const Map& map = cta.task.specs[step.map];
  const std::int64_t at = std::int64_t{step.at[0]} * element_bytes(map.spec.type);
  return {.memory = const_cast<std::uint8_t*>(cta.task.regions[map.region]) + kGuardBytes +
                    map.spec.base_offset + at,
          .bytes = tile_bytes(map.spec)};
}

__device__ inline void load_bulk(const Cta& cta, const Step& step) {
  const BulkRange range = range_of(cta, step);
  std::uint8_t* const to = cta.window + step.offset;
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  if (step.hint != CacheHint::none && step.mask != 0)
    bulk_multicast(to, range.memory, range.bytes, barrier, step.mask, cache_policy(step.hint));
  else if (step.hint != CacheHint::none)
    bulk_load(to, range.memory, range.bytes, barrier, cache_policy(step.hint));
  else if (step.mask != 0)
    bulk_multicast(to, range.memory, range.bytes, barrier, step.mask);
  else
    bulk_load(to, range.memory, range.bytes, barrier);
}

__device__ inline void store_bulk(const Cta& cta, const Step& step) {
  const BulkRange range = range_of(cta, step);
  const std::uint8_t* const from = cta.window + step.offset;
  if (step.reduction != Reduction::none)
    bulk_reduce(range.memory, from, range.bytes, step.reduction,
                cta.task.specs[step.map].spec.type);
  else if (step.hint != CacheHint::none)
    bulk_store(range.memory, from, range.bytes, cache_policy(step.hint));
  else
    bulk_store(range.memory, from, range.bytes);
}

/// Calls `copy` with the rank of the step's map as a constant.
template <class Copy>
__device__ inline void with_rank(const Cta& cta, const Step& step, const Copy& copy) {
  const std::uint32_t rank = cta.ranks[step.map];
  if (rank == 1) copy(ptx::n32_t<1>{});
  if (rank == 2) copy(ptx::n32_t<2>{});
  if (rank == 3) copy(ptx::n32_t<3>{});
  if (rank == 4) copy(ptx::n32_t<4>{});
  if (rank == 5) copy(ptx::n32_t<5>{});
}

/// The same for an im2col map, whose ranks are 3 to 5.
template <class Copy>
__device__ inline void with_im2col_rank(const Cta& cta, const Step& step, const Copy& copy) {
  const std::uint32_t rank = cta.ranks[step.map] - kIm2colKind;
  if (rank == 3) copy(ptx::n32_t<3>{});
  if (rank == 4) copy(ptx::n32_t<4>{});
  if (rank == 5) copy(ptx::n32_t<5>{});
}

__device__ inline bool is_im2col(const Cta& cta, const Step& step) {
  return cta.ranks[step.map] >= kIm2colKind;
}

template <std::uint32_t kRank>
__device__ inline void load_im2col_of_rank(const Cta& cta, const Step& step) {
  const CUtensorMap* const map = &cta.maps[step.map];
  std::uint8_t* const to = cta.window + step.offset;
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  const std::int32_t* const at = step.at.data();
  const std::uint16_t* const offsets = step.im2col_offsets.data();
  if (step.hint != CacheHint::none && step.mask != 0)
    im2col_multicast<kRank>(to, map, at, offsets, barrier, step.mask, cache_policy(step.hint));
  else if (step.hint != CacheHint::none)
    im2col_load<kRank>(to, map, at, offsets, barrier, cache_policy(step.hint));
  else if (step.mask != 0)
    im2col_multicast<kRank>(to, map, at, offsets, barrier, step.mask);
  else
    im2col_load<kRank>(to, map, at, offsets, barrier);
}

__device__ inline void load(const Cta& cta, const Step& step) {
  if (is_bulk(cta, step)) return load_bulk(cta, step);
  if (is_im2col(cta, step))
    return with_im2col_rank(cta, step, [&](auto rank) { load_im2col_of_rank<rank()>(cta, step); });
  with_rank(cta, step, [&](auto rank) { load_of_rank<rank()>(cta, step); });
}

template <std::uint32_t kRank>
__device__ inline void store_im2col_of_rank(const Cta& cta, const Step& step) {
  const CUtensorMap* const map = &cta.maps[step.map];
  const std::uint8_t* const from = cta.window + step.offset;
  if (step.hint != CacheHint::none)
    im2col_store<kRank>(from, map, step.at.data(), step.reduction, cache_policy(step.hint));
  else
    im2col_store<kRank>(from, map, step.at.data(), step.reduction);
}

__device__ inline void store(const Cta& cta, const Step& step) {
  if (is_bulk(cta, step)) return store_bulk(cta, step);
  if (is_im2col(cta, step))
    return with_im2col_rank(cta, step, [&](auto rank) { store_im2col_of_rank<rank()>(cta, step); });
  with_rank(cta, step, [&](auto rank) { store_of_rank<rank()>(cta, step); });
}

/// Calls `reduce` with the step's operation and a zero of its type, which are part of the
/// instruction: reduces_in_shared() has no others.
template <class Reduce>
__device__ inline void with_reduction(const Step& step, const Reduce& reduce) {
  const Reduction reduction = step.reduction;
  if (step.type == DataType::u32) {
    const auto of_u32 = [&](auto operation) { reduce(operation, std::uint32_t{}); };
    if (reduction == Reduction::add) of_u32(ptx::op_add);
    if (reduction == Reduction::min) of_u32(ptx::op_min);
    if (reduction == Reduction::max) of_u32(ptx::op_max);
    if (reduction == Reduction::inc) of_u32(ptx::op_inc);
    if (reduction == Reduction::dec) of_u32(ptx::op_dec);
    if (reduction == Reduction::bit_and) of_u32(ptx::op_and_op);
    if (reduction == Reduction::bit_or) of_u32(ptx::op_or_op);
    if (reduction == Reduction::bit_xor) of_u32(ptx::op_xor_op);
  }
  if (step.type == DataType::s32) {
    if (reduction == Reduction::add) reduce(ptx::op_add, std::int32_t{});
    if (reduction == Reduction::min) reduce(ptx::op_min, std::int32_t{});
    if (reduction == Reduction::max) reduce(ptx::op_max, std::int32_t{});
  }
  if (step.type == DataType::u64 && reduction == Reduction::add)
    reduce(ptx::op_add, std::uint64_t{});
}

/// Where the step writes, and the barrier that it credits: addresses of the cluster's shared
/// memory, both in one CTA.
struct Named {
  std::uint8_t* place;
  std::uint64_t* barrier;
};
__device__ inline Named named_by(const Cta& cta, const Step& step) {
  const std::uint32_t to = is_remote(step) ? step.of : cta.rank;
  const auto cluster = cooperative_groups::this_cluster();
  return {.place = cluster.map_shared_rank(cta.window + step.at[0], to),
          .barrier = cluster.map_shared_rank(&cta.state.barriers[step.barrier], to)};
}

__device__ inline void send(const Cta& cta, const Step& step) {
  const Named to = named_by(cta, step);
  const std::uint8_t* const from = cta.window + step.offset;
  if (step.reduction == Reduction::none)
    return ptx::cp_async_bulk(ptx::space_cluster, ptx::space_shared, to.place, from, step.bytes,
                              to.barrier);
  with_reduction(step, [&](auto operation, auto element) {
    using Element = decltype(element);
    ptx::cp_reduce_async_bulk(ptx::space_cluster, ptx::space_shared, operation,
                              reinterpret_cast<Element*>(to.place),
                              reinterpret_cast<const Element*>(from), step.bytes, to.barrier);
  });
}

/// Elements of 4 or 8 bytes, or vectors of them: the instruction has no other.
__device__ inline void st_async(const Cta& cta, const Step& step) {
  const Named to = named_by(cta, step);
  std::uint32_t word[4];
  for (std::uint32_t i = 0; i < 4; ++i) word[i] = async_word(cta.task.payload, step, i);
  auto* const words = reinterpret_cast<std::uint32_t*>(to.place);
  if (step.type == DataType::u32) {
    const std::uint32_t two[2] = {word[0], word[1]};
    if (step.bytes == 4) ptx::st_async(words, word[0], to.barrier);
    if (step.bytes == 8) ptx::st_async(words, two, to.barrier);
    if (step.bytes == 16) ptx::st_async(words, word, to.barrier);
    return;
  }
  auto* const wide = reinterpret_cast<std::uint64_t*>(to.place);
  const std::uint64_t two[2] = {std::uint64_t{word[1]} << 32 | word[0],
                                std::uint64_t{word[3]} << 32 | word[2]};
  if (step.bytes == 8) ptx::st_async(wide, two[0], to.barrier);
  if (step.bytes == 16) ptx::st_async(wide, two, to.barrier);
}

__device__ inline void red_async(const Cta& cta, const Step& step) {
  const Named to = named_by(cta, step);
  const std::uint64_t word = std::uint64_t{async_word(cta.task.payload, step, 1)} << 32 |
                             async_word(cta.task.payload, step, 0);
  with_reduction(step, [&](auto operation, auto element) {
    using Element = decltype(element);
    ptx::red_async(operation, reinterpret_cast<Element*>(to.place), static_cast<Element>(word),
                   to.barrier);
  });
}

__device__ inline void prefetch(const Cta& cta, const Step& step) {
  if (is_bulk(cta, step)) {
    const BulkRange range = range_of(cta, step);
    return bulk_prefetch(range.memory, range.bytes);
  }
  if (is_im2col(cta, step))
    return with_im2col_rank(cta, step, [&](auto rank) {
      im2col_prefetch<rank()>(&cta.maps[step.map], step.at.data(), step.im2col_offsets.data());
    });
  with_rank(cta, step,
            [&](auto rank) { prefetch_box_of_rank<rank()>(map_of(cta, step), step.at.data()); });
}

/// Everything in which the step's map differs from the one that it is made of.
template <class Space>
__device__ inline void replace_fields(Space space, void* map, const Cta& cta, const Step& step) {
  const Map& to = cta.task.specs[step.map];
  const Map* const from = to.from == kZeroed ? nullptr : &cta.task.specs[to.from];
  const auto address = [&](const Map& of) {
    return cta.task.regions[of.region] + kGuardBytes + of.spec.base_offset;
  };
  if (from == nullptr || address(*from) != address(to))
    ptx::tensormap_replace_global_address(space, map, address(to));
  replace_spec(space, map, from == nullptr ? nullptr : &from->spec, to.spec);
}

/// By the warp of the step's thread.
__device__ inline void replace(const Cta& cta, const Step& step) {
  CUtensorMap* const map = &cta.task.maps[cta.places[step.map]];
  const bool edits = threadIdx.x == step.thread;
  if (step.in_place) {
    if (!edits) return;
    replace_fields(ptx::space_global, map, cta, step);
    // Without it a CTA that acquires the map may find it as it was, or in parts.
    with_scope(step.scope,
               [](auto scope) { ptx::fence_proxy_tensormap_generic(ptx::sem_release, scope); });
    return;
  }
  static_assert(sizeof(CUtensorMap) == 32 * sizeof(std::uint32_t));
  reinterpret_cast<std::uint32_t*>(&cta.state.edited)[threadIdx.x % 32] =
      reinterpret_cast<const std::uint32_t*>(map)[threadIdx.x % 32];
  __syncwarp();  // else fields are replaced in words that other lanes have not copied yet
  if (edits) replace_fields(ptx::space_shared, &cta.state.edited, cta, step);
  __syncwarp();  // else the warp publishes what its thread has not replaced yet
  with_scope(step.scope, [&](auto scope) {
    ptx::tensormap_cp_fenceproxy(ptx::sem_release, scope, map, &cta.state.edited,
                                 ptx::n32_t<128>{});
  });
}

/// Without it copies of this CTA may go by a map that its SM has read before.
__device__ inline void acquire(const Cta& cta, const Step& step) {
  with_scope(step.scope, [&](auto scope) {
    ptx::fence_proxy_tensormap_generic(ptx::sem_acquire, scope, map_of(cta, step),
                                       ptx::n32_t<128>{});
  });
}

/// Numbers of groups that may be pending behind a wait: the instructions take a constant.
using Pending = std::make_integer_sequence<std::uint32_t, kGroupsPending + 1>;

template <std::uint32_t... kPending>
__device__ inline void wait_until_complete(std::uint32_t pending,
                                           std::integer_sequence<std::uint32_t, kPending...>) {
  ((pending == kPending ? ptx::cp_async_bulk_wait_group(ptx::n32_t<kPending>{}) : void()), ...);
}

template <std::uint32_t... kPending>
__device__ inline void wait_until_read(std::uint32_t pending,
                                       std::integer_sequence<std::uint32_t, kPending...>) {
  ((pending == kPending ? ptx::cp_async_bulk_wait_group_read(ptx::n32_t<kPending>{}) : void()),
   ...);
}

/// The wait has made the writes of the async proxy visible to this thread: no fence is promised to
/// be needed between it and an ordinary load.
__device__ inline std::uint64_t wait_group(const Cta& cta, const Step& step) {
  wait_until_complete(step.pending, Pending{});
  if (step.region == kNoRegion) return 0;
  return *reinterpret_cast<const std::uint64_t*>(cta.task.regions[step.region] + step.word);
}

/// Volatile (ld.cv): an ordinary load would leave a line in L1 that is old when the thread that
/// waits for the stores reads it.
__device__ inline std::uint64_t look(const Cta& cta, const Step& step) {
  if (step.region == kNoRegion) return 0;
  return __ldcv(
      reinterpret_cast<const unsigned long long*>(cta.task.regions[step.region] + step.word));
}

/// All threads. Every reader waits itself: only the completion that a thread observes orders the
/// copy's writes before that thread's reads.
__device__ inline std::uint64_t wait(const Cta& cta, const Step& step) {
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  const std::uint32_t parity = parity_of(cta, step);
  const WaitResult waited = cta.ctas == 1 ? wait_bounded(barrier, parity, step.ns)
                                          : wait_bounded<ptx::dot_scope::cluster>(
                                                barrier, parity, step.ns);  // others may arrive
  const bool complete = __syncthreads_and(waited.complete) != 0;
  if (threadIdx.x == 0) {
    if (complete) cta.state.current[step.barrier] = static_cast<std::uint8_t>(parity ^ 1U);
    if (!complete && step.stops) cta.state.stopped = true;
  }
  return complete ? 1 : 0;
}

/// The 16 bytes of poison at `at` of this CTA's window.
__device__ inline uint4 poison_at(const Cta& cta, std::uint32_t at) {
  const Payload& payload = cta.task.payload;
  const std::uint32_t twist = 0x01010101U * poison_twist(cta.rank);
  return make_uint4(poison_word(payload, at) ^ twist, poison_word(payload, at + 4) ^ twist,
                    poison_word(payload, at + 8) ^ twist, poison_word(payload, at + 12) ^ twist);
}

__device__ inline void poison(const Cta& cta, const Step& step) {
  const std::uint32_t end = step.offset + step.bytes;
  for (std::uint32_t at = step.offset + 16 * threadIdx.x; at < end; at += 16 * blockDim.x)
    *reinterpret_cast<uint4*>(cta.window + at) = poison_at(cta, at);
  // Each thread fences its own stores: without that a poison store may land on top of a copy, which
  // comes through the async proxy.
  ptx::fence_proxy_async(ptx::space_shared);
}

/// All threads fill this part of the window with source words, or with their complement.
__device__ inline void fill(const Cta& cta, const Step& step, std::uint32_t flip) {
  const DataType type = cta.task.specs[step.map].spec.type;
  const auto word = [&](std::uint32_t at) {
    return source_element_word(cta.task.payload, type, at / 4) ^ flip;
  };
  const std::uint32_t end = step.offset + step.bytes;
  for (std::uint32_t at = step.offset + 16 * threadIdx.x; at < end; at += 16 * blockDim.x)
    *reinterpret_cast<uint4*>(cta.window + at) =
        make_uint4(word(at), word(at + 4), word(at + 8), word(at + 12));
  // Each thread fences its own writes: without that a store, which reads through the async proxy,
  // may find what was there before.
  ptx::fence_proxy_async(ptx::space_shared);
}

/// Byte of the window where byte `linear` of the step's tile stands. PTX ISA 9.0, 5.5.7: of the
/// address, 16-byte piece and 128-byte row are exclusive-ored.
__device__ inline std::uint32_t place_of(const TensorMapSpec& map, const Step& step,
                                         std::uint32_t linear) {
  const std::uint32_t plain = step.offset + linear;
  if (map.swizzle == Swizzle::none) return plain;
  return plain ^ ((plain >> 7 & (swizzle_bytes(map.swizzle) / 16 - 1)) << 4);
}

__device__ inline void add(const Cta& cta, const Step& step) {
  const TensorMapSpec& map = cta.task.specs[step.map].spec;
  for (std::uint32_t i = threadIdx.x; i < tile_bytes(map) / 4; i += blockDim.x) {
    const std::uint32_t amount = step.count + i * step.stride;
    std::uint8_t* const element = cta.window + place_of(map, step, 4 * i);
    if (map.type == DataType::f32)
      *reinterpret_cast<float*>(element) += static_cast<float>(amount);
    else
      *reinterpret_cast<std::uint32_t*>(element) += amount;
  }
  // Each thread fences its own accesses: without that a store, which reads through the async proxy,
  // may take the bytes of before, and a load may be overtaken by them.
  ptx::fence_proxy_async(ptx::space_shared);
}

/// Byte by byte, so that it serves every element size.
__device__ inline void copy(const Cta& cta, const Step& step) {
  const Map& from = cta.task.specs[step.map];
  const TensorMapSpec& map = from.spec;
  const std::uint32_t size = element_bytes(map.type);
  for (std::uint32_t byte = threadIdx.x; byte < tile_bytes(map); byte += blockDim.x) {
    std::uint32_t rest = byte / size;
    std::int64_t offset = kGuardBytes + map.base_offset + byte % size;
    bool inside = true;
    for (std::uint32_t i = 0; i < map.rank; ++i) {
      const std::uint32_t x = rest % tile_extent(map, i);
      rest /= tile_extent(map, i);
      const std::int64_t at = step.at[i] + std::int64_t{x} * (i == 0 ? 1 : map.element_stride[i]);
      inside = inside && at >= 0 && at < static_cast<std::int64_t>(map.extent[i]);
      offset += at * (i == 0 ? size : static_cast<std::int64_t>(map.stride[i - 1]));
    }
    cta.window[place_of(map, step, byte)] =
        inside ? cta.task.regions[from.region][offset] : std::uint8_t{0};
  }
  // As behind add().
  ptx::fence_proxy_async(ptx::space_shared);
}

/// One thread waits, all overwrite at once what its groups have read.
__device__ inline void wait_group_read(const Cta& cta, const Step& step) {
  if (threadIdx.x == step.thread) wait_until_read(step.pending, Pending{});
  // Groups belong to the thread that committed them: the others know of its wait only by this.
  __syncthreads();
  fill(cta, step, ~0U);
}

/// All threads. The copy may still be writing: what is read here is told, and judged by nobody.
__device__ inline std::uint64_t missing(const Cta& cta, const Step& step) {
  if (threadIdx.x == 0) cta.state.missing = 0;
  __syncthreads();  // else a thread may count before the first has set it back
  const std::uint32_t end = step.offset + step.bytes;
  std::uint32_t found = 0;
  for (std::uint32_t at = step.offset + 16 * threadIdx.x; at < end; at += 16 * blockDim.x) {
    const uint4 piece = *reinterpret_cast<const uint4*>(cta.window + at);
    const uint4 poison = poison_at(cta, at);
    if (piece.x == poison.x && piece.y == poison.y && piece.z == poison.z && piece.w == poison.w)
      ++found;
  }
  if (found != 0) atomicAdd(&cta.state.missing, found);
  __syncthreads();
  return cta.state.missing;
}

/// What one thread does of a step. Returns its trace.
__device__ inline std::uint64_t take_alone(const Cta& cta, const Step& step) {
  std::uint64_t* const barrier = &cta.state.barriers[step.barrier];
  switch (step.verb) {
    case Verb::init:
      init(cta, step);
      return 0;
    case Verb::inval:
      mbarrier_inval(barrier);
      return 0;
    case Verb::expect_tx:
      expect_tx(cta, step);
      return 0;
    case Verb::arrive_expect_tx:
      arrive_expect_tx(cta, step);
      return 0;
    case Verb::complete_tx:
      mbarrier_complete_tx(barrier, step.bytes);
      return 0;
    case Verb::test:
      return ptx::mbarrier_test_wait_parity(barrier, parity_of(cta, step)) ? 1 : 0;
    case Verb::meter:
      return meter(cta, step);
    case Verb::load:
      load(cta, step);
      return 0;
    case Verb::send:
      send(cta, step);
      return 0;
    case Verb::st_async:
      st_async(cta, step);
      return 0;
    case Verb::prefetch:
      prefetch(cta, step);
      return 0;
    case Verb::store:
      store(cta, step);
      return 0;
    case Verb::commit:
      ptx::cp_async_bulk_commit_group();
      return 0;
    case Verb::wait_group:
      return wait_group(cta, step);
    case Verb::acquire:
      acquire(cta, step);
      return 0;
    case Verb::look:
      return look(cta, step);
    case Verb::delay:
      quiesce(step.ns);
      return 0;
    case Verb::write:
      *static_cast<volatile std::uint64_t*>(barrier) = step.word;
      return 0;
    case Verb::read:
      return *static_cast<volatile std::uint64_t*>(barrier);
    default:
      return 0;
  }
}

/// One step by all threads of a CTA that takes it.
__device__ inline void take(const Cta& cta, const Step& step, std::uint64_t* trace,
                            std::uint8_t* snapshot) {
  switch (step.verb) {
    case Verb::cluster_sync:
      synchronise_cluster();
      return;
    case Verb::snapshot:
      copy_window_out(cta.window, cta.task.window, snapshot);
      return;
    case Verb::arrive:
      if (threadIdx.x >= step.thread && threadIdx.x < step.thread + step.count) arrive(cta, step);
      return;
    case Verb::red_async:
      if (threadIdx.x >= step.thread && threadIdx.x < step.thread + step.count)
        red_async(cta, step);
      return;
    case Verb::wait: {
      const std::uint64_t seen = wait(cta, step);
      if (threadIdx.x == 0) *trace = seen;
      return;
    }
    case Verb::wait_group_read:
      wait_group_read(cta, step);
      return;
    case Verb::replace:
      if (threadIdx.x / 32 == step.thread / 32U) replace(cta, step);
      return;
    case Verb::fill:
      fill(cta, step, 0);
      return;
    case Verb::add:
      add(cta, step);
      return;
    case Verb::copy:
      copy(cta, step);
      return;
    case Verb::poison:
      poison(cta, step);
      return;
    case Verb::missing: {
      const std::uint64_t seen = missing(cta, step);
      if (threadIdx.x == 0) *trace = seen;
      return;
    }
    default:
      if (threadIdx.x == step.thread) *trace = take_alone(cta, step);
  }
}

}  // namespace tidemark::kernels
