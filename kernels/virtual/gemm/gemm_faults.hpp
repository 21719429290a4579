// The ways in which the virtual matrix multiplication can be told to be wrong. All of them are in
// the fast engine and in what it reads; the reference engine is always right.
#pragma once

#include <span>

#include "kernels/fault.hpp"

namespace tidemark::kernels {

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

}  // namespace tidemark::kernels
