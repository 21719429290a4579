// cp.async.bulk.tensor of a box of any rank with a cache policy, in the forms that cache_hint.cuh
// has for rank 2 alone.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/cache_hint.cuh"
#include "kernels/ops/reduction.hpp"

namespace tidemark::kernels {

// The instruction of one rank: its coordinates, operands 5 and up, are all that differs. Without
// "memory" the compiler may move the copy in front of the announcement, or a read of the window in
// front of the copy.
#define TIDEMARK_MULTICAST_OF_RANK(rank, coordinates, ...)                                   \
  if constexpr (kRank == (rank))                                                             \
  asm volatile("cp.async.bulk.tensor." #rank                                                 \
               "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"                  \
               ".multicast::cluster.L2::cache_hint [%0], [%1, {" coordinates                 \
               "}], [%2], %3, "                                                              \
               "%4;"                                                                         \
               :                                                                             \
               : "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "h"(ctas), \
                 "l"(policy), __VA_ARGS__                                                    \
               : "memory")

/// Loads the box at `at` of `map` to the same place in shared memory of all CTAs of the cluster
/// whose bits are set in `ctas`, each completing on its own `barrier`, with a cache policy. PTX
/// ISA 9.0, 9.7.9.25.5.2.
template <std::uint32_t kRank>
__device__ inline void multicast_box_with_policy(void* to, const void* map,
                                                 const std::int32_t (&at)[kRank],
                                                 std::uint64_t* barrier, std::uint16_t ctas,
                                                 std::uint64_t policy) {
  TIDEMARK_MULTICAST_OF_RANK(1, "%5", "r"(at[0]));
  TIDEMARK_MULTICAST_OF_RANK(2, "%5, %6", "r"(at[0]), "r"(at[1]));
  TIDEMARK_MULTICAST_OF_RANK(3, "%5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]));
  TIDEMARK_MULTICAST_OF_RANK(4, "%5, %6, %7, %8", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]));
  TIDEMARK_MULTICAST_OF_RANK(5, "%5, %6, %7, %8, %9", "r"(at[0]), "r"(at[1]), "r"(at[2]),
                             "r"(at[3]), "r"(at[4]));
}

#undef TIDEMARK_MULTICAST_OF_RANK

// The same for stores and reductions, whose coordinates are operands 3 and up. Without "memory" the
// compiler may move the copy in front of the writes that it carries off.
#define TIDEMARK_STORE_OF_RANK(kind, operation, rank, coordinates, ...)               \
  if constexpr (kRank == (rank))                                                      \
  asm volatile("cp" kind ".async.bulk.tensor." #rank "d.global.shared::cta" operation \
               ".tile.bulk_group.L2::cache_hint [%0, {" coordinates "}], [%1], %2;"   \
               :                                                                      \
               : "l"(map), "r"(shared_address(from)), "l"(policy), __VA_ARGS__        \
               : "memory")
#define TIDEMARK_STORE(kind, operation)                                                            \
  TIDEMARK_STORE_OF_RANK(kind, operation, 1, "%3", "r"(at[0]));                                    \
  TIDEMARK_STORE_OF_RANK(kind, operation, 2, "%3, %4", "r"(at[0]), "r"(at[1]));                    \
  TIDEMARK_STORE_OF_RANK(kind, operation, 3, "%3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2]));    \
  TIDEMARK_STORE_OF_RANK(kind, operation, 4, "%3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), \
                         "r"(at[3]));                                                              \
  TIDEMARK_STORE_OF_RANK(kind, operation, 5, "%3, %4, %5, %6, %7", "r"(at[0]), "r"(at[1]),         \
                         "r"(at[2]), "r"(at[3]), "r"(at[4]))

/// Stores the box at `from` in shared memory to `at` of `map`, as part of the thread's next bulk
/// group, with a cache policy. PTX ISA 9.0, 9.7.9.25.5.2.
template <std::uint32_t kRank>
__device__ inline void store_box_with_policy(const void* from, const void* map,
                                             const std::int32_t (&at)[kRank],
                                             std::uint64_t policy) {
  TIDEMARK_STORE("", "");
}

/// The same as a reduction, other than none. PTX ISA 9.0, 9.7.9.25.5.3.
template <std::uint32_t kRank>
__device__ inline void reduce_box_with_policy(const void* from, const void* map,
                                              const std::int32_t (&at)[kRank], Reduction reduction,
                                              std::uint64_t policy) {
  if (reduction == Reduction::add) {
    TIDEMARK_STORE(".reduce", ".add");
  }
  if (reduction == Reduction::min) {
    TIDEMARK_STORE(".reduce", ".min");
  }
  if (reduction == Reduction::max) {
    TIDEMARK_STORE(".reduce", ".max");
  }
  if (reduction == Reduction::inc) {
    TIDEMARK_STORE(".reduce", ".inc");
  }
  if (reduction == Reduction::dec) {
    TIDEMARK_STORE(".reduce", ".dec");
  }
  if (reduction == Reduction::bit_and) {
    TIDEMARK_STORE(".reduce", ".and");
  }
  if (reduction == Reduction::bit_or) {
    TIDEMARK_STORE(".reduce", ".or");
  }
  if (reduction == Reduction::bit_xor) {
    TIDEMARK_STORE(".reduce", ".xor");
  }
}

#undef TIDEMARK_STORE
#undef TIDEMARK_STORE_OF_RANK

}  // namespace tidemark::kernels
