// createpolicy, and cp.async.bulk.tensor with the policy it makes: cuda::ptx of CCCL 3.0 has
// neither.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/ops/tile_load.hpp"

namespace tidemark::kernels {

/// The policy that `hint`, which is not none, asks for all bytes of an access (fraction 1).
/// PTX ISA 9.0, 9.7.9.16.
__device__ inline std::uint64_t cache_policy(CacheHint hint) {
  std::uint64_t policy = 0;
  if (hint == CacheHint::evict_first)
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  else if (hint == CacheHint::evict_last)
    asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  else
    asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(policy));
  return policy;
}

/// Loads the box at `at` of `map` to shared memory at `to`, completing on `barrier`, with a cache
/// policy. PTX ISA 9.0, 9.7.9.25.5.2.
template <std::uint32_t kRank>
__device__ inline void load_tile_with_policy(void* to, const void* map,
                                             const std::int32_t (&at)[kRank],
                                             std::uint64_t* barrier, std::uint64_t policy) {
  const std::uint32_t destination = shared_address(to);
  const std::uint32_t completion = shared_address(barrier);
  // Without "memory" the compiler may move the copy in front of the announcement, or a read of the
  // window in front of the copy.
  if constexpr (kRank == 1)
    asm volatile(
        "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%2}], [%3], %4;"
        :
        : "r"(destination), "l"(map), "r"(at[0]), "r"(completion), "l"(policy)
        : "memory");
  else if constexpr (kRank == 2)
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5;"
        :
        : "r"(destination), "l"(map), "r"(at[0]), "r"(at[1]), "r"(completion), "l"(policy)
        : "memory");
  else if constexpr (kRank == 3)
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%2, %3, %4}], [%5], %6;"
        :
        : "r"(destination), "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(completion),
          "l"(policy)
        : "memory");
  else if constexpr (kRank == 4)
    asm volatile(
        "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%2, %3, %4, %5}], [%6], %7;"
        :
        : "r"(destination), "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]),
          "r"(completion), "l"(policy)
        : "memory");
  else
    asm volatile(
        "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
        ".L2::cache_hint [%0], [%1, {%2, %3, %4, %5, %6}], [%7], %8;"
        :
        : "r"(destination), "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]),
          "r"(completion), "l"(policy)
        : "memory");
}

/// Loads the box at `at` of `map`, of rank 2, to the same place in shared memory of all blocks of
/// the cluster whose bits are set in `blocks`, each completing on its own `barrier`, with a cache
/// policy. PTX ISA 9.0, 9.7.9.25.5.2.
__device__ inline void multicast_tile_with_policy(void* to, const void* map,
                                                  const std::int32_t (&at)[2],
                                                  std::uint64_t* barrier, std::uint16_t blocks,
                                                  std::uint64_t policy) {
  // "memory" for the reason that load_tile_with_policy() has it.
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%2, %3}], [%4], %5, %6;"
      :
      : "r"(shared_address(to)), "l"(map), "r"(at[0]), "r"(at[1]), "r"(shared_address(barrier)),
        "h"(blocks), "l"(policy)
      : "memory");
}

/// Stores a word to global memory with a cache policy. PTX ISA 9.0, 9.7.9.11.
__device__ inline void store_word_with_policy(std::uint32_t* to, std::uint32_t word,
                                              std::uint64_t policy) {
  // Without "memory" the compiler may move the store behind what hands the word over.
  asm volatile("st.global.L2::cache_hint.b32 [%0], %1, %2;"
               :
               : "l"(__cvta_generic_to_global(to)), "r"(word), "l"(policy)
               : "memory");
}

/// Stores the box at `from` in shared memory to `at` of `map`, of rank 2, as part of the thread's
/// next bulk group, with a cache policy. PTX ISA 9.0, 9.7.9.25.5.2.
__device__ inline void store_tile_with_policy(const void* from, const void* map,
                                              const std::int32_t (&at)[2], std::uint64_t policy) {
  // Without "memory" the compiler may move the copy in front of the writes that it carries off.
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group.L2::cache_hint"
      " [%0, {%1, %2}], [%3], %4;"
      :
      : "l"(map), "r"(at[0]), "r"(at[1]), "r"(shared_address(from)), "l"(policy)
      : "memory");
}

}  // namespace tidemark::kernels
