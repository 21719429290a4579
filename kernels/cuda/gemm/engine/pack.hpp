// Operands that TMA cannot read: where their rows do not start on 16 bytes they are copied to rows
// that do, before the product. Which, where to, and the arithmetic of moving bytes within words.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/gemm/local_gemm.hpp"

namespace tidemark {

/// Rows of 16-bit elements, copied to where they start on 128 bytes. None where `rows` is 0.
struct PackedRows {
  const std::byte* from = nullptr;  // on 2 bytes
  std::byte* to = nullptr;          // on 128 bytes
  std::uint64_t rows = 0, elements = 0;
  std::uint64_t from_pitch = 0, to_pitch = 0;  // elements
};

constexpr std::uint64_t bytes_of(const PackedRows& packed) {
  return packed.rows * packed.to_pitch * sizeof(std::uint16_t);
}

/// How an operand of `gemm` would be packed, `to` left open; none where TMA can read it as it is,
/// and none of fp8, which is not packed.
PackedRows packed_rows(const LocalGemm& gemm, GemmOperand operand);

/// 16 bytes, as a thread loads and stores them.
struct alignas(16) Chunk {
  std::uint32_t word[4];
};

/// The 16 bytes that begin `shift` bytes, 0 to 14 and even, behind the start of `low`, which `high`
/// follows. In steps of 8, 4 and 2 bytes, so that no register is chosen by an index.
constexpr Chunk realigned(const Chunk& low, const Chunk& high, std::uint32_t shift) {
  std::uint32_t words[8] = {low.word[0],  low.word[1],  low.word[2],  low.word[3],
                            high.word[0], high.word[1], high.word[2], high.word[3]};
  for (int i = 0; i < 6; ++i) words[i] = (shift & 8U) != 0 ? words[i + 2] : words[i];
  for (int i = 0; i < 5; ++i) words[i] = (shift & 4U) != 0 ? words[i + 1] : words[i];
  const std::uint32_t bits = (shift & 2U) * 8;
  Chunk chunk{};
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t pair = std::uint64_t{words[i + 1]} << 32 | words[i];
    chunk.word[i] = static_cast<std::uint32_t>(pair >> bits);
  }
  return chunk;
}

/// Copies all of them on `stream`. What comes behind the elements of a row up to 16 bytes is not
/// defined; nothing outside of the operands is read. Nothing is launched where there are no rows.
/// Takes at most `sm_budget` SMs; 0: all.
void launch_pack(const std::array<PackedRows, 2>& operands, std::uint32_t sm_budget,
                 cudaStream_t stream);

}  // namespace tidemark
