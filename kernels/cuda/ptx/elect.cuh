// elect.sync, which cuda::ptx of CCCL 3.0 lacks.
#pragma once

#include <cstdint>

namespace tidemark::kernels {

/// True in one lane of a warp, the same one each time. All 32 lanes call it. Where a branch depends
/// on it the compiler knows that one lane is left, and issues a copy of the TMA once; behind a
/// comparison of threadIdx it issues it in a loop over all lanes that might be there. PTX ISA 9.0,
/// elect.sync.
__device__ __forceinline__ bool is_elected() {
  std::uint32_t elected = 0;
  // Without "volatile" the compiler may move it behind a branch, where lanes would be missing.
  asm volatile(
      "{\n"
      " .reg .pred elected;\n"
      " elect.sync _|elected, 0xffffffff;\n"
      " selp.u32 %0, 1, 0, elected;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}

}  // namespace tidemark::kernels
