// Multiplies tiles on the virtual device and stores C.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/fault.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/ops/payload.hpp"
#include "kernels/virtual/gemm/gemm_arrivals.hpp"
#include "kernels/virtual/gemm/gemm_panels.hpp"

namespace tidemark::kernels {

// The arithmetic of the virtual matrix multiplication: a blocked loop with fp32 sums in order of k.

/// C of this rank, row-major, in the output type, and what it is to become: alpha A B + beta C.
/// `bytes` is all of the allocation: guard, rows each followed by its padding, guard.
struct GemmBlock {
  GemmOutput output = GemmOutput::f32;
  std::uint64_t rows = 0, cols = 0;
  std::span<std::uint8_t> bytes;
  float alpha = 1, beta = 0;
  std::uint32_t sm_budget = 0;  // tiles of a round of kFaultGemmOneRound; 0: all
  std::uint64_t ldc = 0;  // elements from row to row; 0: the fewest whose rows start on 16 bytes

  std::uint64_t pitch() const {
    return ldc != 0 ? ldc * c_element_bytes(output) : c_row_pitch(cols, output);
  }
  /// Where in `bytes` element (row, col) lies; col may be one in the padding.
  std::uint64_t offset_of(std::uint64_t row, std::uint64_t col) const {
    return kGuardBytes + row * pitch() + col * c_element_bytes(output);
  }
};

/// Multiplies tile by tile, row by row of tiles; `fault` changes one step. With `arrivals` the
/// panels are still being gathered: of the tiles left the first is taken whose rows are there.
/// False where rows did not come in time: GemmArrivals::late() says which, and the tiles that need
/// none of them are done.
bool multiply_blocked(const GemmPanel& a, const GemmPanel& b, const GemmBlock& c, Fault fault,
                      GemmArrivals* arrivals = nullptr);

/// The textbook triple loop.
void multiply_plain(const GemmPanel& a, const GemmPanel& b, const GemmBlock& c);

// How the virtual matrix multiplication stores C: alpha and beta, rounding, and the fault.

/// Sums over k of the elements of a tile.
using GemmSums = std::array<std::array<float, kGemmTile>, kGemmTile>;

/// Stores alpha `sum` + beta C, rounded to the type of C.
void store_element(const GemmBlock& c, std::uint64_t row, std::uint64_t col, float sum,
                   Fault fault);

/// Stores the part of the tile at (row, col) that lies inside the block.
void store_tile(const GemmBlock& c, std::uint64_t row, std::uint64_t col, GemmSums& sums,
                Fault fault);

/// What the faults write that is no element of C.
void store_outside(const GemmBlock& c, Fault fault);

}  // namespace tidemark::kernels
