// Multiplies tiles on the virtual device and stores C, and the faults of both.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "kernels/fault.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/ops/payload.hpp"
#include "kernels/virtual/gemm/gemm_panels.hpp"

namespace tidemark {

// The ways in which the virtual matrix multiplication can be told to be wrong. All of them are in
// the fast engine and in what it reads; the reference engine is always right.

inline constexpr Fault kFaultGemmLastProduct{201};
inline constexpr Fault kFaultGemmTailBlock{202};
inline constexpr Fault kFaultGemmPadding{203};
inline constexpr Fault kFaultGemmTileUnwritten{204};
inline constexpr Fault kFaultGemmUlp{205};
inline constexpr Fault kFaultGemmOffByOne{206};
inline constexpr Fault kFaultGemmRowsExchanged{207};
inline constexpr Fault kFaultGemmNeighbourRow{208};
inline constexpr Fault kFaultGemmShardStale{209};
inline constexpr Fault kFaultGemmShardDisplaced{210};
inline constexpr Fault kFaultGemmNarrowSum{211};
inline constexpr Fault kFaultGemmTruncated{212};
inline constexpr Fault kFaultGemmBackGuard{213};
inline constexpr Fault kFaultGemmFrontGuard{214};
inline constexpr Fault kFaultGemmTransposed{215};
inline constexpr Fault kFaultGemmNotCleared{216};
inline constexpr Fault kFaultGemmOddColumn{217};
inline constexpr Fault kFaultGemmStaleStage{218};
inline constexpr Fault kFaultGemmBitFlip{219};
inline constexpr Fault kFaultGemmTileTwice{220};
inline constexpr Fault kFaultGemmPaddingWritten{221};
inline constexpr Fault kFaultGemmUnusedRead{222};
inline constexpr Fault kFaultGemmBetaIgnored{223};
inline constexpr Fault kFaultGemmAlphaIgnored{224};
inline constexpr Fault kFaultGemmAlphaTwice{225};
inline constexpr Fault kFaultGemmMajorIgnored{226};
inline constexpr Fault kFaultGemmPackedRows{227};
inline constexpr Fault kFaultGemmPackedC{228};
inline constexpr Fault kFaultGemmTypeIgnored{229};
inline constexpr Fault kFaultGemmNothingDone{230};
inline constexpr Fault kFaultGemmRowCut{231};
inline constexpr Fault kFaultGemmCRowCut{232};
inline constexpr Fault kFaultGemmNeighbourWritten{233};
inline constexpr Fault kFaultGemmNonFiniteZeroed{234};
inline constexpr Fault kFaultGemmInfinityTimesZero{235};
inline constexpr Fault kFaultGemmInfinitySaturated{236};
inline constexpr Fault kFaultGemmInfinityUnsigned{237};
inline constexpr Fault kFaultGemmNanSpread{238};
inline constexpr Fault kFaultGemmOneRound{239};
inline constexpr Fault kFaultGemmUnpromoted{240};
inline constexpr Fault kFaultGemmPartialKept{241};
inline constexpr Fault kFaultGemmE5m2AsE4m3{242};
inline constexpr Fault kFaultGemmFlagEarly{243};
inline constexpr Fault kFaultGemmFlagOfLastEpoch{244};

/// All of the above, in the order of their values.
std::span<const FaultInfo> gemm_faults();

// Multiplies tiles on the virtual device and stores C.

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

}  // namespace tidemark
