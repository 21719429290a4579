// Loads, stores, reductions and prefetches of a program, by tensor maps and without, maps that it
// changes, and writes to the windows of other CTAs.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/cuda/program/program_barriers.cuh"
#include "kernels/cuda/ptx/bulk_copy.cuh"
#include "kernels/cuda/ptx/tensor_copy.cuh"

namespace tidemark {

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

// Tensor maps that a program changes.

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

// Writes to the windows of other CTAs: bulk copies, st.async and red.async.

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

}  // namespace tidemark
