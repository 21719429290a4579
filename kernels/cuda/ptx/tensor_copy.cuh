// Copies by tensor maps and what changes the maps, in the forms that cuda::ptx of CCCL 3.0 lacks.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <cuda/ptx>
#include <utility>

#include "kernels/cuda/ptx/barriers.cuh"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/reduction.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark {

// createpolicy, and cp.async.bulk.tensor with the policy it makes: cuda::ptx of CCCL 3.0 has
// neither.

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

// Multicasts, stores and reductions of a box of any rank with a cache policy.

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

// Tensor copies whose rank is known at run time: one instruction for each rank, chosen by a branch.

template <std::uint32_t kRank>
__device__ inline void load_box_of_rank(const CUtensorMap* map, const std::int32_t* at,
                                        std::uint8_t* to, std::uint64_t* barrier) {
  std::int32_t start[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) start[i] = at[i];
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_cluster, cuda::ptx::space_global, to, map, start,
                                  barrier);
}

template <std::uint32_t kRank>
__device__ inline void store_box_of_rank(const CUtensorMap* map, const std::int32_t* at,
                                         const std::uint8_t* from) {
  std::int32_t start[kRank];
  for (std::uint32_t i = 0; i < kRank; ++i) start[i] = at[i];
  cuda::ptx::cp_async_bulk_tensor(cuda::ptx::space_global, cuda::ptx::space_shared, map, start,
                                  from);
}

/// Issues the load of the box at `at` into shared memory, to complete on `barrier`.
/// PTX ISA 9.0, 9.7.9.25.5.2.
__device__ inline void load_box(std::uint32_t rank, const CUtensorMap* map, const std::int32_t* at,
                                std::uint8_t* to, std::uint64_t* barrier) {
  if (rank == 1) load_box_of_rank<1>(map, at, to, barrier);
  if (rank == 2) load_box_of_rank<2>(map, at, to, barrier);
  if (rank == 3) load_box_of_rank<3>(map, at, to, barrier);
  if (rank == 4) load_box_of_rank<4>(map, at, to, barrier);
  if (rank == 5) load_box_of_rank<5>(map, at, to, barrier);
}

/// Issues the store of a box of shared memory at `at`, as part of the thread's next bulk group.
/// PTX ISA 9.0, 9.7.9.25.5.2.
__device__ inline void store_box(std::uint32_t rank, const CUtensorMap* map, const std::int32_t* at,
                                 const std::uint8_t* from) {
  if (rank == 1) store_box_of_rank<1>(map, at, from);
  if (rank == 2) store_box_of_rank<2>(map, at, from);
  if (rank == 3) store_box_of_rank<3>(map, at, from);
  if (rank == 4) store_box_of_rank<4>(map, at, from);
  if (rank == 5) store_box_of_rank<5>(map, at, from);
}

// Prefetches to L2, which cuda::ptx of CCCL 3.0 lacks. Nobody is told when the bytes are there, and
// nothing is ordered behind one.

/// Asks for `bytes` of global memory at `from` in L2. PTX ISA 9.0, cp.async.bulk.prefetch.
__device__ inline void bulk_prefetch(const void* from, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" : : "l"(from), "r"(bytes) : "memory");
}

/// Asks for the box at `at` of `map` in L2. PTX ISA 9.0, cp.async.bulk.prefetch.tensor.
template <std::uint32_t kRank>
__device__ inline void prefetch_box_of_rank(const void* map, const std::int32_t* at) {
  if constexpr (kRank == 1)
    asm volatile("cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%0, {%1}];"
                 :
                 : "l"(map), "r"(at[0])
                 : "memory");
  if constexpr (kRank == 2)
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];"
                 :
                 : "l"(map), "r"(at[0]), "r"(at[1])
                 : "memory");
  if constexpr (kRank == 3)
    asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.tile [%0, {%1, %2, %3}];"
                 :
                 : "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2])
                 : "memory");
  if constexpr (kRank == 4)
    asm volatile("cp.async.bulk.prefetch.tensor.4d.L2.global.tile [%0, {%1, %2, %3, %4}];"
                 :
                 : "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])
                 : "memory");
  if constexpr (kRank == 5)
    asm volatile("cp.async.bulk.prefetch.tensor.5d.L2.global.tile [%0, {%1, %2, %3, %4, %5}];"
                 :
                 : "l"(map), "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4])
                 : "memory");
}

// cp.async.bulk.tensor by a map of cuTensorMapEncodeIm2col, in all ranks that it has: cuda::ptx of
// CCCL 3.0 has no im2col form.

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

// Fields of tensor maps in memory. cuda::ptx takes dimensions, types and modes as constants: here
// they are those of a TensorMapSpec. PTX ISA 9.0, 9.7.9.26 tensormap.replace.

/// Calls `fence` with the scope as a constant.
template <class Fence>
__device__ inline void with_scope(Scope scope, const Fence& fence) {
  if (scope == Scope::cta) fence(cuda::ptx::scope_cta);
  if (scope == Scope::cluster) fence(cuda::ptx::scope_cluster);
  if (scope == Scope::gpu) fence(cuda::ptx::scope_gpu);
  if (scope == Scope::sys) fence(cuda::ptx::scope_sys);
}

/// Calls `replace` with `value` as a constant, which is one of `kValues`.
template <std::uint32_t... kValues, class Replace>
__device__ inline void with_constant(std::uint32_t value,
                                     std::integer_sequence<std::uint32_t, kValues...>,
                                     const Replace& replace) {
  ((value == kValues ? replace(cuda::ptx::n32_t<kValues>{}) : void()), ...);
}

/// The number that instructions have for the type; the driver numbers these three otherwise. PTX
/// ISA 9.0, 9.7.9.26, Table 36.
__device__ constexpr std::uint32_t device_number(DataType type) {
  if (type == DataType::f32_ftz) return 8;
  if (type == DataType::f64) return 9;
  if (type == DataType::bf16) return 10;
  return static_cast<std::uint32_t>(type);
}

/// Dimension `kDimension`, where it differs or `from` has none.
template <std::uint32_t kDimension, class Space>
__device__ inline void replace_dimension(Space space, void* map, const TensorMapSpec* from,
                                         const TensorMapSpec& to) {
  namespace ptx = cuda::ptx;
  constexpr ptx::n32_t<kDimension> kOrdinal;
  const bool made = from == nullptr || kDimension >= from->rank;
  if (kDimension >= to.rank) return;
  if (made || from->extent[kDimension] != to.extent[kDimension])
    ptx::tensormap_replace_global_dim(space, map, kOrdinal,
                                      static_cast<std::uint32_t>(to.extent[kDimension]));
  if (made || from->box[kDimension] != to.box[kDimension])
    ptx::tensormap_replace_box_dim(space, map, kOrdinal, to.box[kDimension]);
  if (made || from->element_stride[kDimension] != to.element_stride[kDimension])
    ptx::tensormap_replace_element_stride(space, map, kOrdinal, to.element_stride[kDimension]);
  if constexpr (kDimension > 0)  // in bytes; before ptxas 12.5 in units of 16
    if (made || from->stride[kDimension - 1] != to.stride[kDimension - 1])
      ptx::tensormap_replace_global_stride(space, map, ptx::n32_t<kDimension - 1>{},
                                           to.stride[kDimension - 1]);
}

/// Every field but the address in which `to` differs from `from`; all where there is no `from`.
template <class Space>
__device__ inline void replace_spec(Space space, void* map, const TensorMapSpec* from,
                                    const TensorMapSpec& to) {
  namespace ptx = cuda::ptx;
  if (from == nullptr || from->rank != to.rank)
    ptx::tensormap_replace_rank(space, map, to.rank - 1);  // the field counts from 0
  replace_dimension<0>(space, map, from, to);
  replace_dimension<1>(space, map, from, to);
  replace_dimension<2>(space, map, from, to);
  replace_dimension<3>(space, map, from, to);
  replace_dimension<4>(space, map, from, to);
  if (from == nullptr) ptx::tensormap_replace_interleave_layout(space, map, ptx::n32_t<0>{});
  if (from == nullptr || from->type != to.type)
    with_constant(device_number(to.type), std::make_integer_sequence<std::uint32_t, kDataTypes>{},
                  [&](auto type) { ptx::tensormap_replace_elemtype(space, map, type); });
  if (from == nullptr || from->swizzle != to.swizzle)
    with_constant(static_cast<std::uint32_t>(to.swizzle),
                  std::make_integer_sequence<std::uint32_t, 4>{},
                  [&](auto mode) { ptx::tensormap_replace_swizzle_mode(space, map, mode); });
  if (from == nullptr || from->fill != to.fill)
    with_constant(static_cast<std::uint32_t>(to.fill),
                  std::make_integer_sequence<std::uint32_t, 2>{},
                  [&](auto mode) { ptx::tensormap_replace_fill_mode(space, map, mode); });
}

}  // namespace tidemark
