// wgmma and setmaxnreg, which cuda::ptx lacks: one function an instruction, nothing hidden.
#pragma once

#include <cstdint>

namespace tidemark {

/// Orders this warp's earlier accesses to the accumulators (and to shared memory) before the wgmma
/// that follow. Without it the first wgmma may read registers that are still being written.
/// PTX ISA, wgmma.fence; all threads of the warpgroup.
__device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

/// Closes the group of the wgmma issued so far. Without it wgmma_wait has nothing to count and
/// returns while they still run. PTX ISA, wgmma.commit_group.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits until at most `pending` groups of this warp are unfinished. Without it the accumulators
/// are read, or the operands overwritten, while the tensor core still uses them. PTX ISA,
/// wgmma.wait_group.
template <int pending>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}

/// Makes every accumulator look written here. Without it the compiler, which does not know that
/// wgmma writes registers behind its back, may move a read of them above wgmma_wait.
__device__ __forceinline__ void hold_accumulators(float (&d)[128]) {
#pragma unroll
  for (int i = 0; i < 128; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

/// Gives registers of the warpgroup back, down to `registers` a thread; ptxas then allots no more
/// than that. Without it the 384 threads would keep 168 each and the consumers would spill. All
/// warps of the warpgroup. PTX ISA, setmaxnreg.
template <int registers>
__device__ __forceinline__ void setmaxnreg_dec() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}

/// Takes registers until each thread has `registers`; waits until others have given enough back.
template <int registers>
__device__ __forceinline__ void setmaxnreg_inc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

/// Descriptor of a K-major operand in shared memory whose rows are one 128-byte swizzle span, as a
/// SWIZZLE_128B tensor map leaves them: `shared_address` is a multiple of 1024 (base offset 0).
/// Add 2 to step 32 bytes along K: the swizzle is taken of address bits, not of offsets.
/// PTX ISA, matrix descriptor: bits 0-13 address >> 4, 16-29 leading offset >> 4 (not used by this
/// layout, 1 by custom), 32-45 stride offset >> 4, 49-51 base offset, 62-63 swizzle.
__device__ __forceinline__ std::uint64_t k_major_swizzle128(std::uint32_t shared_address) {
  constexpr std::uint64_t kEightRows = 8 * 128;  // bytes from one group of eight rows to the next
  constexpr std::uint64_t kSwizzle128 = 1;
  return ((shared_address & 0x3ffffU) >> 4) | (1ULL << 16) | ((kEightRows >> 4) << 32) |
         (kSwizzle128 << 62);
}

/// d = A B^T + (accumulate ? d : 0): A 64 x 16, B 256 x 16, bf16, both K-major, fp32 accumulators.
/// Thread t of the warpgroup holds, for j in 0..31: d[4 j], d[4 j + 1] = D[r][8 j + c], [c + 1] and
/// d[4 j + 2], d[4 j + 3] the same eight rows below, where r = 16 (t / 32) + t % 32 / 4 and
/// c = 2 (t % 4). Runs behind the caller's back until wgmma_wait.
/// PTX ISA, wgmma.mma_async, m64n256k16.
__device__ __forceinline__ void wgmma_m64n256k16(float (&d)[128], std::uint64_t a, std::uint64_t b,
                                                 std::uint32_t accumulate) {
  // The immediates: neither operand negated (1, 1), neither transposed (0, 0).
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16\n"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,\n"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,\n"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,\n"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,\n"
      " %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69,\n"
      " %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83,\n"
      " %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97,\n"
      " %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111,\n"
      " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125,\n"
      " %126, %127},\n"
      "%128, %129, p, 1, 1, 0, 0;\n"
      "}\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]),
        "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]),
        "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]),
        "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31]), "+f"(d[32]), "+f"(d[33]), "+f"(d[34]),
        "+f"(d[35]), "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39]), "+f"(d[40]), "+f"(d[41]),
        "+f"(d[42]), "+f"(d[43]), "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47]), "+f"(d[48]),
        "+f"(d[49]), "+f"(d[50]), "+f"(d[51]), "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55]),
        "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59]), "+f"(d[60]), "+f"(d[61]), "+f"(d[62]),
        "+f"(d[63]), "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67]), "+f"(d[68]), "+f"(d[69]),
        "+f"(d[70]), "+f"(d[71]), "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75]), "+f"(d[76]),
        "+f"(d[77]), "+f"(d[78]), "+f"(d[79]), "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83]),
        "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87]), "+f"(d[88]), "+f"(d[89]), "+f"(d[90]),
        "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95]), "+f"(d[96]), "+f"(d[97]),
        "+f"(d[98]), "+f"(d[99]), "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103]),
        "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107]), "+f"(d[108]), "+f"(d[109]),
        "+f"(d[110]), "+f"(d[111]), "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115]),
        "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119]), "+f"(d[120]), "+f"(d[121]),
        "+f"(d[122]), "+f"(d[123]), "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])
      : "l"(a), "l"(b), "r"(accumulate));
}

}  // namespace tidemark
