// Rows of C that TMA cannot write: a warp carries filled staging boxes to them by plain stores.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/ladder/staging.hpp"

namespace tidemark::kernels {

/// Columns of C in a staging box.
template <class Out>
inline constexpr std::uint32_t kBoxColumns = kStagingRowBytes / sizeof(Out);

/// Writes a filled box to C by plain stores: neighbouring lanes write neighbouring words, wherever
/// a row starts. All of the box lies in C. No branch depends on where rows start, and instructions
/// are few: behind the last tile of a block nothing else is left to hide them.
template <class Out>
__device__ __forceinline__ void carry_whole_box(const std::byte* box, const EngineProblem& p,
                                                std::uint32_t row0, std::uint32_t column,
                                                std::uint32_t lane) {
  std::uint64_t pitch = p.ldc * sizeof(Out);
  // What follows from these is reckoned here. The compiler would do so before the loop of wgmma,
  // which has no registers left to keep it.
  asm volatile("" : "+l"(pitch), "+r"(lane));
  std::byte* const corner =
      static_cast<std::byte*>(p.c) + row0 * pitch + column * std::uint64_t{sizeof(Out)};
  // A row of 16-bit elements may begin in the middle of a word of memory, as row r + 8 does where
  // row r does. Then the first element of the box's row and its last go alone, and a lane's word is
  // made of its own second element and its neighbour's first. That is read, not shuffled: a shuffle
  // here, which each warp runs apart, costs the compiler its proof that the descriptors of wgmma
  // are uniform (ci/check_machine_code).
  const bool even_across = reinterpret_cast<std::uintptr_t>(corner) % 4 != 0;
  const bool odd_across = even_across != (pitch % 4 != 0);
  const std::uint64_t odd_step = pitch + (odd_across ? 2 : 0) - (even_across ? 2 : 0);
  const std::uint64_t even_step = pitch + (even_across ? 2 : 0) - (odd_across ? 2 : 0);
  const std::uint32_t own = 4 * lane;  // byte of a row
  const std::uint32_t neighbours = min(own + 4, kStagingRowBytes - 4);
  std::byte* to = corner + own + (even_across ? 2 : 0);  // on 4 bytes
  const auto carry = [&](const std::byte* at, std::uint32_t swizzle, std::byte* there,
                         bool across) {
    const auto word = *reinterpret_cast<const std::uint32_t*>(at + (own ^ swizzle));
    if constexpr (sizeof(Out) == 4) {
      *reinterpret_cast<std::uint32_t*>(there) = word;
    } else {
      const auto next = *reinterpret_cast<const std::uint32_t*>(at + (neighbours ^ swizzle));
      const std::uint32_t moved = __funnelshift_r(word, next, across ? 16 : 0);
      if (!across || lane != 31) *reinterpret_cast<std::uint32_t*>(there) = moved;
      auto* const element = reinterpret_cast<std::uint16_t*>(there);
      if (across && lane == 31) element[0] = static_cast<std::uint16_t>(moved);
      if (across && lane == 0) element[-1] = static_cast<std::uint16_t>(word);
    }
  };
  const auto carry_two = [&](std::uint32_t row, bool across) {  // and eight rows on
    const std::byte* const at = box + row * kStagingRowBytes;
    const std::uint32_t swizzle = row * 16;  // staged_chunk() of rows below 8
    carry(at, swizzle, to, across);
    carry(at + kEightRowsOn, swizzle, to + 8 * pitch, across);
  };
#pragma unroll 1
  for (std::uint32_t row = 0; row < 8; row += 2) {
    carry_two(row, even_across);
    to += odd_step;
    carry_two(row + 1, odd_across);
    to += even_step;
  }
}

/// The same, element by element, of a box that reaches out of C; its first row and column lie in C.
template <class Out>
__device__ __forceinline__ void carry_clipped_box(const std::byte* box, const EngineProblem& p,
                                                  std::uint32_t row0, std::uint32_t column,
                                                  std::uint32_t lane) {
  constexpr std::uint32_t kColumns = kBoxColumns<Out>;
  constexpr std::uint32_t kPerWord = 4 / sizeof(Out);
  const std::uint32_t rows = min(p.m - row0, kStagingRows);
  const std::uint32_t columns = min(p.n - column, kColumns);
  Out* to = static_cast<Out*>(p.c) + row0 * p.ldc + column + kPerWord * lane;
#pragma unroll 1
  for (std::uint32_t row = 0; row < rows; ++row, to += p.ldc) {
    const auto* const from = reinterpret_cast<const Out*>(box + staged_word(row, lane));
#pragma unroll
    for (std::uint32_t i = 0; i < kPerWord; ++i)
      if (kPerWord * lane + i < columns) to[i] = from[i];
  }
}

}  // namespace tidemark::kernels
