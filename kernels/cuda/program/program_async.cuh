// What a program writes to the windows of other CTAs: bulk copies, st.async and red.async.
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "kernels/cuda/program/program_barriers.cuh"
#include "kernels/cuda/ptx/bulk_copy.cuh"

namespace tidemark {

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
