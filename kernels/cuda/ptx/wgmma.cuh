// wgmma, what surrounds it, and stmatrix: one function an instruction.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "kernels/ops/gemm/mma_element.hpp"
#include "kernels/ops/program/wgmma.hpp"

namespace tidemark {

// What surrounds wgmma, and setmaxnreg.

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

// wgmma of one warpgroup in every operand type and major-ness and a few widths: one function a
// width, the type in the name of the instruction.

/// The 64-bit operand descriptor, for `start` a shared address. PTX ISA 9.0, 9.7.15.5.1.2.2: bits
/// 0-13 start, 16-29 leading and 32-45 stride offset, each as (x & 0x3ffff) >> 4, 49-51 base
/// offset, 62-63 swizzle: 0 none, 1 of 128 bytes, 2 of 64, 3 of 32.
constexpr std::uint64_t encoded(const MatrixDescriptor& d) {
  constexpr std::uint64_t kMode[] = {0, 3, 2, 1};
  const auto encode = [](std::uint32_t x) { return std::uint64_t{(x & 0x3ffffU) >> 4}; };
  return encode(d.start) | encode(d.leading) << 16 | encode(d.stride) << 32 |
         std::uint64_t{d.base_offset & 7U} << 49 |
         kMode[static_cast<std::uint32_t>(d.swizzle)] << 62;
}
static_assert(encoded({.start = 0x12340,
                       .leading = 16,
                       .stride = 1024,
                       .base_offset = 5,
                       .swizzle = Swizzle::b128}) == 0x400a004000011234ULL);

/// What stands behind "wgmma.mma_async.sync.aligned.m64n<N>": depth and types.
template <MmaType type>
struct WgmmaTypes;
template <>
struct WgmmaTypes<MmaType::f16> {
  static constexpr char kText[] = "k16.f32.f16.f16";
};
template <>
struct WgmmaTypes<MmaType::bf16> {
  static constexpr char kText[] = "k16.f32.bf16.bf16";
};
template <>
struct WgmmaTypes<MmaType::tf32> {
  static constexpr char kText[] = "k8.f32.tf32.tf32";
};
template <>
struct WgmmaTypes<MmaType::e4m3> {
  static constexpr char kText[] = "k32.f32.e4m3.e4m3";
};
template <>
struct WgmmaTypes<MmaType::e5m2> {
  static constexpr char kText[] = "k32.f32.e5m2.e5m2";
};
template <>
struct WgmmaTypes<MmaType::s8> {
  static constexpr char kText[] = "k32.s32.s8.s8";
};
template <>
struct WgmmaTypes<MmaType::u8> {
  static constexpr char kText[] = "k32.s32.u8.u8";
};

/// The immediates behind the predicate: for floating types neither operand negated (1, 1), and for
/// 16-bit types whether A and B are MN-major.
template <bool immediates, bool majors, bool a_mn, bool b_mn>
struct WgmmaImmediates;
template <>
struct WgmmaImmediates<false, false, false, false> {
  static constexpr char kText[] = "";
};
template <>
struct WgmmaImmediates<true, false, false, false> {
  static constexpr char kText[] = ", 1, 1";
};
template <>
struct WgmmaImmediates<true, true, false, false> {
  static constexpr char kText[] = ", 1, 1, 0, 0";
};
template <>
struct WgmmaImmediates<true, true, false, true> {
  static constexpr char kText[] = ", 1, 1, 0, 1";
};
template <>
struct WgmmaImmediates<true, true, true, false> {
  static constexpr char kText[] = ", 1, 1, 1, 0";
};
template <>
struct WgmmaImmediates<true, true, true, true> {
  static constexpr char kText[] = ", 1, 1, 1, 1";
};

/// One form of the instruction but for its width.
template <MmaType type, bool a_mn, bool b_mn>
struct WgmmaForm {
  static constexpr MmaType kType = type;
  using Types = WgmmaTypes<type>;
  using Immediates = WgmmaImmediates<!is_integer(type), element_bytes(type) == 2, a_mn, b_mn>;
};

/// Makes every accumulator look written here. Without it the compiler, which does not know that
/// wgmma writes registers behind its back, may move a read of them above wgmma_wait.
template <int count>
__device__ __forceinline__ void hold_accumulators(std::uint32_t (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+r"(d[i])::"memory");
}

// d = A B^T + (accumulate ? d : 0) for A 64 x one step of K, B N x one step, N twice the number of
// accumulators. Thread t of the warpgroup holds, for j in 0..N/8-1: d[4 j], d[4 j + 1] =
// D[r][8 j + c], [c + 1] and d[4 j + 2], d[4 j + 3] the same eight rows below, where
// r = 16 (t / 32) + t % 32 / 4 and c = 2 (t % 4); the 32 bits are an f32 or an s32. Runs behind the
// caller's back until wgmma_wait. PTX ISA 9.0, 9.7.15.5.2 wgmma.mma_async.

template <class Form>
__device__ __forceinline__ void wgmma(std::uint32_t (&d)[4], std::uint64_t a, std::uint64_t b,
                                      std::uint32_t accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %6, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n8%7\n"
      "{%0, %1, %2, %3}, %4, %5, p%8;\n"
      "}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "l"(a), "l"(b), "r"(accumulate), "C"(Form::Types::kText), "C"(Form::Immediates::kText));
}

template <class Form>
__device__ __forceinline__ void wgmma(std::uint32_t (&d)[8], std::uint64_t a, std::uint64_t b,
                                      std::uint32_t accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %10, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n16%11\n"
      "{%0, %1, %2, %3, %4, %5, %6, %7}, %8, %9, p%12;\n"
      "}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
        "+r"(d[7])
      : "l"(a), "l"(b), "r"(accumulate), "C"(Form::Types::kText), "C"(Form::Immediates::kText));
}

template <class Form>
__device__ __forceinline__ void wgmma(std::uint32_t (&d)[16], std::uint64_t a, std::uint64_t b,
                                      std::uint32_t accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32%19\n"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, p%20;\n"
      "}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
        "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]),
        "+r"(d[14]), "+r"(d[15])
      : "l"(a), "l"(b), "r"(accumulate), "C"(Form::Types::kText), "C"(Form::Immediates::kText));
}

template <class Form>
__device__ __forceinline__ void wgmma(std::uint32_t (&d)[32], std::uint64_t a, std::uint64_t b,
                                      std::uint32_t accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64%35\n"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16,\n"
      " %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, "
      "p%36;\n"
      "}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
        "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]),
        "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]),
        "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]),
        "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31])
      : "l"(a), "l"(b), "r"(accumulate), "C"(Form::Types::kText), "C"(Form::Immediates::kText));
}

template <class Form>
__device__ __forceinline__ void wgmma(std::uint32_t (&d)[64], std::uint64_t a, std::uint64_t b,
                                      std::uint32_t accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128%67\n"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16,\n"
      " %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31,\n"
      " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46,\n"
      " %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61,\n"
      " %62, %63}, %64, %65, p%68;\n"
      "}\n"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
        "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]),
        "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]),
        "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]),
        "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]), "+r"(d[32]), "+r"(d[33]), "+r"(d[34]),
        "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), "+r"(d[39]), "+r"(d[40]), "+r"(d[41]),
        "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]), "+r"(d[47]), "+r"(d[48]),
        "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]), "+r"(d[55]),
        "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]),
        "+r"(d[63])
      : "l"(a), "l"(b), "r"(accumulate), "C"(Form::Types::kText), "C"(Form::Immediates::kText));
}

// wgmma with fp32 accumulators in the widths of the GEMM engine: 128, 192, 256: one function a
// width, the types and the major-ness of both operands in the name of the instruction.

/// Makes every accumulator look written here. Without it the compiler, which does not know that
/// wgmma writes registers behind its back, may move a read of them above wgmma_wait.
template <int count>
__device__ __forceinline__ void hold_sums(float (&d)[count]) {
#pragma unroll
  for (int i = 0; i < count; ++i) asm volatile("" : "+f"(d[i])::"memory");
}

// The layout of the accumulators, and what the functions do, are those of the forms above; the sums
// are floats, since an engine goes on calculating with them.

template <class Form>
__device__ __forceinline__ void wgmma(float (&d)[64], std::uint64_t a, std::uint64_t b,
                                      std::uint32_t accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128%67\n"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,\n"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,\n"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,\n"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,\n"
      " %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, p%68;\n"
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
        "+f"(d[63])
      : "l"(a), "l"(b), "r"(accumulate), "C"(Form::Types::kText), "C"(Form::Immediates::kText));
}

template <class Form>
__device__ __forceinline__ void wgmma(float (&d)[96], std::uint64_t a, std::uint64_t b,
                                      std::uint32_t accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %98, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n192%99\n"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,\n"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,\n"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,\n"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,\n"
      " %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69,\n"
      " %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83,\n"
      " %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95}, %96, %97, p%100;\n"
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
        "+f"(d[91]), "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
      : "l"(a), "l"(b), "r"(accumulate), "C"(Form::Types::kText), "C"(Form::Immediates::kText));
}

template <class Form>
__device__ __forceinline__ void wgmma(float (&d)[128], std::uint64_t a, std::uint64_t b,
                                      std::uint32_t accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "setp.ne.b32 p, %130, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n256%131\n"
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13,\n"
      " %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27,\n"
      " %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41,\n"
      " %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55,\n"
      " %56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69,\n"
      " %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83,\n"
      " %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97,\n"
      " %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111,\n"
      " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125,\n"
      " %126, %127}, %128, %129, p%132;\n"
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
      : "l"(a), "l"(b), "r"(accumulate), "C"(Form::Types::kText), "C"(Form::Immediates::kText));
}

// stmatrix and prefetch.tensormap, which cuda::ptx lacks.

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

}  // namespace tidemark
