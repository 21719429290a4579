// cp.async.bulk: consecutive bytes by their address, without a tensor map. cuda::ptx of CCCL 3.0
// has no form with a cache policy, and of reductions those of C++ types alone.
#pragma once

#include <cstdint>

#include "kernels/cuda/ptx/tensor_copy.cuh"
#include "kernels/ops/reduction.hpp"

namespace tidemark {

// Without "memory" the compiler may move a copy in front of the announcement of its bytes or of the
// writes that it carries off, or a read of the window in front of the copy.

/// Loads `bytes` from global memory at `from` to shared memory at `to`, completing on `barrier`.
/// PTX ISA 9.0, 9.7.9.25.4.1.
__device__ inline void bulk_load(void* to, const void* from, std::uint32_t bytes,
                                 std::uint64_t* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}
__device__ inline void bulk_load(void* to, const void* from, std::uint32_t bytes,
                                 std::uint64_t* barrier, std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], "
      "[%1], %2, [%3], %4;"
      :
      : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)), "l"(policy)
      : "memory");
}

/// The same to all CTAs of the cluster whose bits are set in `ctas`, at the same place in the
/// shared memory of each, completing on the barrier at the same place.
__device__ inline void bulk_multicast(void* to, const void* from, std::uint32_t bytes,
                                      std::uint64_t* barrier, std::uint16_t ctas) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
      "[%1], %2, [%3], %4;"
      :
      : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)), "h"(ctas)
      : "memory");
}
__device__ inline void bulk_multicast(void* to, const void* from, std::uint32_t bytes,
                                      std::uint64_t* barrier, std::uint16_t ctas,
                                      std::uint64_t policy) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      ".L2::cache_hint [%0], [%1], %2, [%3], %4, %5;"
      :
      : "r"(shared_address(to)), "l"(from), "r"(bytes), "r"(shared_address(barrier)), "h"(ctas),
        "l"(policy)
      : "memory");
}

/// Stores `bytes` of shared memory at `from` to global memory at `to`, as part of the thread's next
/// bulk group.
__device__ inline void bulk_store(void* to, const void* from, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
               :
               : "l"(to), "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ inline void bulk_store(void* to, const void* from, std::uint32_t bytes,
                                  std::uint64_t policy) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%0], [%1], %2, %3;"
               :
               : "l"(to), "r"(shared_address(from)), "r"(bytes), "l"(policy)
               : "memory");
}

// Operation and type are part of the instruction.
#define TIDEMARK_BULK_REDUCE(operation, element, suffix)                                      \
  if (reduction == Reduction::operation && type == DataType::element)                         \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group" suffix " [%0], [%1], %2;" \
               :                                                                              \
               : "l"(to), "r"(shared_address(from)), "r"(bytes)                               \
               : "memory")

/// Reduces the elements of global memory at `to` by those of shared memory at `from`, as part of
/// the thread's next bulk group. Nothing where reduces() knows no such reduction, or for f32. PTX
/// ISA 9.0, 9.7.9.25.4.2.
__device__ inline void bulk_reduce(void* to, const void* from, std::uint32_t bytes,
                                   Reduction reduction, DataType type) {
  TIDEMARK_BULK_REDUCE(add, u32, ".add.u32");
  TIDEMARK_BULK_REDUCE(add, s32, ".add.s32");
  TIDEMARK_BULK_REDUCE(add, u64, ".add.u64");
  TIDEMARK_BULK_REDUCE(add, f16, ".add.noftz.f16");
  TIDEMARK_BULK_REDUCE(add, bf16, ".add.noftz.bf16");
  TIDEMARK_BULK_REDUCE(min, u32, ".min.u32");
  TIDEMARK_BULK_REDUCE(min, s32, ".min.s32");
  TIDEMARK_BULK_REDUCE(min, u64, ".min.u64");
  TIDEMARK_BULK_REDUCE(min, s64, ".min.s64");
  TIDEMARK_BULK_REDUCE(min, f16, ".min.f16");
  TIDEMARK_BULK_REDUCE(min, bf16, ".min.bf16");
  TIDEMARK_BULK_REDUCE(max, u32, ".max.u32");
  TIDEMARK_BULK_REDUCE(max, s32, ".max.s32");
  TIDEMARK_BULK_REDUCE(max, u64, ".max.u64");
  TIDEMARK_BULK_REDUCE(max, s64, ".max.s64");
  TIDEMARK_BULK_REDUCE(max, f16, ".max.f16");
  TIDEMARK_BULK_REDUCE(max, bf16, ".max.bf16");
  TIDEMARK_BULK_REDUCE(inc, u32, ".inc.u32");
  TIDEMARK_BULK_REDUCE(dec, u32, ".dec.u32");
  TIDEMARK_BULK_REDUCE(bit_and, u32, ".and.b32");
  TIDEMARK_BULK_REDUCE(bit_or, u32, ".or.b32");
  TIDEMARK_BULK_REDUCE(bit_xor, u32, ".xor.b32");
  TIDEMARK_BULK_REDUCE(bit_and, u64, ".and.b64");
  TIDEMARK_BULK_REDUCE(bit_or, u64, ".or.b64");
  TIDEMARK_BULK_REDUCE(bit_xor, u64, ".xor.b64");
}

#undef TIDEMARK_BULK_REDUCE

}  // namespace tidemark
