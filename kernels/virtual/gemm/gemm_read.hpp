// How the virtual matrix multiplication reads its panels: a tile's rows of one block of k, through
// the fault.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/fault.hpp"
#include "kernels/virtual/gemm/gemm_panels.hpp"

namespace tidemark::kernels {

inline constexpr std::uint64_t kGemmTile = 64;   // rows and columns of C
inline constexpr std::uint64_t kGemmDepth = 64;  // k of a block

/// Elements of one operand as fp32: a row for each row or column of the tile, along k.
using GemmTileRows = std::array<std::array<float, kGemmDepth>, kGemmTile>;

/// What reads a panel, and what is wrong with it.
struct GemmReader {
  const GemmPanel& panel;
  GemmOperand operand;
  Fault fault;
};

/// The rows from `first` on, `depth` elements of each from `k` on; those outside the panel are
/// zeros, but for kFaultGemmPadding.
void read_rows(const GemmReader& reader, std::uint64_t first, std::uint64_t k, std::uint64_t depth,
               GemmTileRows& to);

}  // namespace tidemark::kernels
