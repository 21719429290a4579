// How the virtual matrix multiplication stores C: alpha and beta, rounding, and the fault.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/fault.hpp"
#include "kernels/virtual/gemm/gemm_multiply.hpp"
#include "kernels/virtual/gemm/gemm_read.hpp"

namespace tidemark::kernels {

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
