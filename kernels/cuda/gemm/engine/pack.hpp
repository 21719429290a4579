// Operands that TMA cannot read: where their rows do not start on 16 bytes they are copied, before
// the GEMM, to rows that do.
#pragma once

#include <cuda_runtime_api.h>

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

/// How warps walk a row: in words of two elements, and in runs of them of about one length, each of
/// which a warp has on its way at once.
struct RowRuns {
  std::uint32_t words = 0, runs = 0;
  std::uint32_t run_words = 0;  // of all runs but the last, which may be shorter
};
inline constexpr std::uint32_t kRunSteps = 16;  // words of a lane on their way: 64 bytes

constexpr RowRuns runs_of(std::uint64_t elements) {
  const auto words = static_cast<std::uint32_t>((elements + 1) / 2);
  const std::uint32_t runs = (words + 32 * kRunSteps - 1) / (32 * kRunSteps);
  if (runs == 0) return {};
  const std::uint32_t steps = (words + 32 * runs - 1) / (32 * runs);
  return {.words = words, .runs = runs, .run_words = 32 * steps};
}

/// Copies the rows of either operand on `stream`. What comes behind the elements of a row up to 4
/// bytes is not defined; nothing outside of the operands is read. Nothing is launched where there
/// are no rows. Takes at most `sm_budget` SMs; 0: all.
void launch_pack(const PackedRows& a, const PackedRows& b, std::uint32_t sm_budget,
                 cudaStream_t stream);

}  // namespace tidemark
