// stmatrix and prefetch.tensormap, which cuda::ptx lacks.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace tidemark::kernels {

/// Stores four 8 x 8 matrices of 16-bit elements: lane l holds two neighbours of row l / 4 of each,
/// from column 2 (l % 4), and gives the shared address of row l % 8 of matrix l / 8. All lanes of
/// the warp; addresses on 16 bytes. PTX ISA 9.0, stmatrix.
__device__ __forceinline__ void stmatrix_x4(std::uint32_t address, std::uint32_t m0,
                                            std::uint32_t m1, std::uint32_t m2, std::uint32_t m3) {
  // Without "memory" the compiler may move the store behind the fence that publishes it.
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};"
               :
               : "r"(address), "r"(m0), "r"(m1), "r"(m2), "r"(m3)
               : "memory");
}

/// Fetches a tensor map that is a kernel's parameter, so that the first copy does not wait for it.
/// PTX ISA 9.0, prefetch.tensormap.
__device__ __forceinline__ void prefetch_tensor_map(const CUtensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" : : "l"(&map) : "memory");
}

}  // namespace tidemark::kernels
