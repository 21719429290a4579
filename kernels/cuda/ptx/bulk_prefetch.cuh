// cp.async.bulk.prefetch.L2, which cuda::ptx lacks.
#pragma once

#include <cstdint>

namespace tidemark {

/// Starts to bring `bytes` of global memory to L2 and does not wait; both on 16 bytes. PTX ISA 9.0,
/// cp.async.bulk.prefetch.L2.
__device__ __forceinline__ void bulk_prefetch(const void* at, std::uint32_t bytes) {
  asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(at)), "r"(bytes)
               : "memory");
}

}  // namespace tidemark
