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

}  // namespace tidemark::kernels
