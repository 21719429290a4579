// cp.async.bulk.tensor by a map of cuTensorMapEncodeIm2col, in all ranks that it has: cuda::ptx of
// CCCL 3.0 has no im2col form.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/mbarrier.cuh"
#include "kernels/ops/reduction.hpp"

namespace tidemark::kernels {

// The instruction of one rank. `form` and `more` are what multicast and cache hint add in front of
// and behind the operands that every form has. Operands 3 and 4 are the mask and the policy, named
// or not; coordinates come next, and then the offsets, 16 bits each. Without "memory" the compiler
// may move the copy in front of the announcement, or a read of the window in front of the copy.
#define TIDEMARK_IM2COL_OF_RANK(form, more, rank, coordinates, offset, ...)                  \
  if constexpr (kRank == (rank))                                                             \
  asm volatile("cp.async.bulk.tensor." #rank                                                 \
               "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes" form           \
               " [%0], [%1, {" coordinates "}], [%2], {" offset "}" more ";"                 \
               :                                                                             \
               : "r"(shared_address(to)), "l"(map), "r"(shared_address(barrier)), "h"(ctas), \
                 "l"(policy), __VA_ARGS__                                                    \
               : "memory")
#define TIDEMARK_IM2COL(form, more)                                                              \
  TIDEMARK_IM2COL_OF_RANK(form, more, 3, "%5, %6, %7", "%8", "r"(at[0]), "r"(at[1]), "r"(at[2]), \
                          "h"(offsets[0]));                                                      \
  TIDEMARK_IM2COL_OF_RANK(form, more, 4, "%5, %6, %7, %8", "%9, %10", "r"(at[0]), "r"(at[1]),    \
                          "r"(at[2]), "r"(at[3]), "h"(offsets[0]), "h"(offsets[1]));             \
  TIDEMARK_IM2COL_OF_RANK(form, more, 5, "%5, %6, %7, %8, %9", "%10, %11, %12", "r"(at[0]),      \
                          "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]), "h"(offsets[0]),       \
                          "h"(offsets[1]), "h"(offsets[2]))

/// Loads pixels of `map` from the one at `at` on, each `offsets` further along W, H and D, to
/// shared memory at `to`, completing on `barrier`. PTX ISA 9.0, 9.7.9.25.5.2 and 5.5.4.
template <std::uint32_t kRank>
__device__ inline void im2col_load(void* to, const void* map, const std::int32_t* at,
                                   const std::uint16_t* offsets, std::uint64_t* barrier) {
  constexpr std::uint16_t ctas = 0;
  constexpr std::uint64_t policy = 0;
  TIDEMARK_IM2COL("", "");
}

/// The same with a cache policy.
template <std::uint32_t kRank>
__device__ inline void im2col_load(void* to, const void* map, const std::int32_t* at,
                                   const std::uint16_t* offsets, std::uint64_t* barrier,
                                   std::uint64_t policy) {
  constexpr std::uint16_t ctas = 0;
  TIDEMARK_IM2COL(".L2::cache_hint", ", %4");
}

/// To the same place in shared memory of all CTAs of the cluster whose bits are set in `ctas`, each
/// completing on the barrier at the place of `barrier`.
template <std::uint32_t kRank>
__device__ inline void im2col_multicast(void* to, const void* map, const std::int32_t* at,
                                        const std::uint16_t* offsets, std::uint64_t* barrier,
                                        std::uint16_t ctas) {
  constexpr std::uint64_t policy = 0;
  TIDEMARK_IM2COL(".multicast::cluster", ", %3");
}

/// The same with a cache policy.
template <std::uint32_t kRank>
__device__ inline void im2col_multicast(void* to, const void* map, const std::int32_t* at,
                                        const std::uint16_t* offsets, std::uint64_t* barrier,
                                        std::uint16_t ctas, std::uint64_t policy) {
  TIDEMARK_IM2COL(".multicast::cluster.L2::cache_hint", ", %3, %4");
}

#undef TIDEMARK_IM2COL
#undef TIDEMARK_IM2COL_OF_RANK

// Stores and reductions, which have no offsets. Operand 2 is the policy, named or not. Without
// "memory" the compiler may move the copy in front of the writes that it carries off.
#define TIDEMARK_IM2COL_STORE_OF_RANK(kind, operation, form, more, rank, coordinates, ...) \
  if constexpr (kRank == (rank))                                                           \
  asm volatile("cp" kind ".async.bulk.tensor." #rank "d.global.shared::cta" operation      \
               ".im2col_no_offs.bulk_group" form " [%0, {" coordinates "}], [%1]" more ";" \
               :                                                                           \
               : "l"(map), "r"(shared_address(from)), "l"(policy), __VA_ARGS__             \
               : "memory")
#define TIDEMARK_IM2COL_STORE(is, kind, operation, form, more)                                  \
  if (reduction == Reduction::is) {                                                             \
    TIDEMARK_IM2COL_STORE_OF_RANK(kind, operation, form, more, 3, "%3, %4, %5", "r"(at[0]),     \
                                  "r"(at[1]), "r"(at[2]));                                      \
    TIDEMARK_IM2COL_STORE_OF_RANK(kind, operation, form, more, 4, "%3, %4, %5, %6", "r"(at[0]), \
                                  "r"(at[1]), "r"(at[2]), "r"(at[3]));                          \
    TIDEMARK_IM2COL_STORE_OF_RANK(kind, operation, form, more, 5, "%3, %4, %5, %6, %7",         \
                                  "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]));  \
  }
#define TIDEMARK_IM2COL_STORES(form, more)                      \
  TIDEMARK_IM2COL_STORE(none, "", "", form, more)               \
  TIDEMARK_IM2COL_STORE(add, ".reduce", ".add", form, more)     \
  TIDEMARK_IM2COL_STORE(min, ".reduce", ".min", form, more)     \
  TIDEMARK_IM2COL_STORE(max, ".reduce", ".max", form, more)     \
  TIDEMARK_IM2COL_STORE(inc, ".reduce", ".inc", form, more)     \
  TIDEMARK_IM2COL_STORE(dec, ".reduce", ".dec", form, more)     \
  TIDEMARK_IM2COL_STORE(bit_and, ".reduce", ".and", form, more) \
  TIDEMARK_IM2COL_STORE(bit_or, ".reduce", ".or", form, more)   \
  TIDEMARK_IM2COL_STORE(bit_xor, ".reduce", ".xor", form, more)

/// Stores pixels at `from` in shared memory to those of `map` from the one at `at` on, or reduces
/// them, as part of the thread's next bulk group. PTX ISA 9.0, 9.7.9.25.5.2 and 9.7.9.25.5.3.
template <std::uint32_t kRank>
__device__ inline void im2col_store(const void* from, const void* map, const std::int32_t* at,
                                    Reduction reduction) {
  constexpr std::uint64_t policy = 0;
  TIDEMARK_IM2COL_STORES("", "")
}

/// The same with a cache policy.
template <std::uint32_t kRank>
__device__ inline void im2col_store(const void* from, const void* map, const std::int32_t* at,
                                    Reduction reduction, std::uint64_t policy) {
  TIDEMARK_IM2COL_STORES(".L2::cache_hint", ", %2")
}

#undef TIDEMARK_IM2COL_STORES
#undef TIDEMARK_IM2COL_STORE
#undef TIDEMARK_IM2COL_STORE_OF_RANK

/// Asks for the pixels of a load in L2. PTX ISA 9.0, cp.async.bulk.prefetch.tensor.
template <std::uint32_t kRank>
__device__ inline void im2col_prefetch(const void* map, const std::int32_t* at,
                                       const std::uint16_t* offsets) {
  if constexpr (kRank == 3)
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%0, {%1, %2, %3}], {%4};"
                 :
                 : "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "h"(offsets[0])
                 : "memory");
  if constexpr (kRank == 4)
    asm volatile(
        "cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [%0, {%1, %2, %3, %4}], {%5, %6};"
        :
        : "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "h"(offsets[0]), "h"(offsets[1])
        : "memory");
  if constexpr (kRank == 5)
    asm volatile(
        "cp.async.bulk.prefetch.tensor.5d.L2.global.im2col [%0, {%1, %2, %3, %4, %5}], {%6, %7, "
        "%8};"
        :
        : "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]), "h"(offsets[0]),
          "h"(offsets[1]), "h"(offsets[2])
        : "memory");
}

}  // namespace tidemark::kernels
