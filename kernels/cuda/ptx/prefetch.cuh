// Prefetches to L2, which cuda::ptx of CCCL 3.0 lacks. Nobody is told when the bytes are there, and
// nothing is ordered behind one.
#pragma once

#include <cstdint>

namespace tidemark::kernels {

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

}  // namespace tidemark::kernels
