// Operands that TMA cannot read: where their rows do not start on 16 bytes they are copied to rows
// that do, before the product or beside it. Which, where to, and in which pieces.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/gemm/local_gemm.hpp"

namespace tidemark::kernels {

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

/// The runs of rows that are packed beside a product, all whole: the last one begins before the one
/// before it ends. 40 registers a thread, which the producer's warps have, hold no longer ones.
inline constexpr std::uint32_t kAheadSteps = 13;
inline constexpr std::uint32_t kAheadWords = 32 * kAheadSteps;

/// Rows of a band: what the product waits for is counted in bands, so that its producers look at
/// few words.
inline constexpr std::uint32_t kBandRows = 64;

/// An operand whose first rows, and the last, are packed before the product and whose others beside
/// it, by warps that have nothing else to do. The words are in device memory and are set up by
/// launch_pack().
struct RowsAhead {
  PackedRows rows;
  RowRuns runs;
  bool stays = false;  // is written to be the last to leave L2
  // Packed beside the product: from this row, a band's first one, to the last but one.
  std::uint32_t first = 0;
  std::uint32_t* taken = nullptr;  // those that some warp has taken on; null: none is left to them
  std::uint32_t* done = nullptr;   // packed rows of each band; of those before `first`: nothing

  constexpr std::uint32_t bands() const {
    return static_cast<std::uint32_t>((rows.rows + kBandRows - 1) / kBandRows);
  }
  constexpr std::uint32_t rows_of(std::uint32_t band) const {
    const auto behind = static_cast<std::uint32_t>(rows.rows) - band * kBandRows;
    return behind < kBandRows ? behind : kBandRows;
  }
  /// Whether anything is left to pack beside the product.
  constexpr bool any() const { return taken != nullptr; }
};

/// Bytes of the words of both operands, a multiple of 128; 0 where neither is packed.
std::uint64_t ahead_bytes(const std::array<PackedRows, 2>& packed);

/// Rows of A and of B that the first `clusters` tiles of a product read: what has to be packed
/// before it begins. Tiles are walked in groups of `group`, along M, or along N where
/// `group_along_n`.
struct FirstRows {
  std::uint64_t a = 0, b = 0;
};
struct TileGrid {
  std::uint32_t m_tiles = 0, n_tiles = 0;  // of a cluster
  std::uint32_t m_rows = 0, n_rows = 0;    // of such a tile
  std::uint32_t group = 1;
  bool group_along_n = false;
};
FirstRows first_rows(const TileGrid& grid, std::uint32_t clusters);

/// Copies, on `stream`, the rows of each operand before its `first` and the last one, all of them
/// where nothing is left to the product, and sets up the words of the others. What
/// comes behind the elements of a row up to 4 bytes is not defined; nothing outside of the operands
/// is read. Nothing is launched where there are no rows. Takes at most `sm_budget` SMs; 0: all.
void launch_pack(const std::array<RowsAhead, 2>& operands, std::uint32_t sm_budget,
                 cudaStream_t stream);

}  // namespace tidemark::kernels
