// wgmma of one warpgroup in every operand type and major-ness and a few widths: one function a
// width, the type in the name of the instruction.
#pragma once

#include <cstdint>

#include "kernels/ops/gemm/mma_element.hpp"
#include "kernels/ops/tile_consume.hpp"

namespace tidemark::kernels {

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

}  // namespace tidemark::kernels
