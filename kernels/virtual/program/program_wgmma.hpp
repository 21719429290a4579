// wgmma of a program, and its faults.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/fault.hpp"
#include "kernels/ops/program/wgmma.hpp"
#include "kernels/virtual/program/program_run.hpp"

namespace tidemark {

void take_wgmma(const Turn& turn);

/// Shared address of the first byte of element (mn, k) of one step's operand. PTX ISA 9.0,
/// 9.7.15.5.1.2: in units of 16 bytes the canonical layouts are made of rows as wide as the
/// swizzle, eight of them a group; the address bits 4..6 are then exchanged with bits 7..9, counted
/// from where the base offset says that the pattern starts.
std::int64_t element_address(const MatrixDescriptor& descriptor, Major major, std::uint32_t size,
                             std::uint32_t mn, std::uint32_t k, Fault fault);

/// The number that an element's `bits` stand for; NaN and infinity included.
double value_of(MmaType type, std::uint32_t bits, Fault fault);

// The faults of wgmma: each changes one step of its way from shared memory to the result. What TMA
// does wrong before is among the faults of a tile load.

// Addresses: where an element is looked for.
inline constexpr Fault kFaultConsumeSwizzleIgnored{601};
inline constexpr Fault kFaultConsumeSwizzleNarrower{602};
inline constexpr Fault kFaultConsumeSwizzleRelative{603};
inline constexpr Fault kFaultConsumeStrideNextGroup{604};
inline constexpr Fault kFaultConsumeOffsetsExchanged{605};
inline constexpr Fault kFaultConsumeBaseOffsetIgnored{606};
inline constexpr Fault kFaultConsumeMnAsK{607};
inline constexpr Fault kFaultConsumeLeadingIgnored{608};
inline constexpr Fault kFaultConsumeSwizzleWider{609};
inline constexpr Fault kFaultConsumeBaseOffsetAdded{610};
inline constexpr Fault kFaultConsumeReadAsWritten{611};
// Steps along K.
inline constexpr Fault kFaultConsumeAdvanceMissing{615};
inline constexpr Fault kFaultConsumeAdvanceHalved{616};
inline constexpr Fault kFaultConsumeLastStepDropped{617};
inline constexpr Fault kFaultConsumeNotCleared{618};
// Elements: what the bits that were found mean.
inline constexpr Fault kFaultConsumeChunkStale{625};
inline constexpr Fault kFaultConsumeSignLost{626};
inline constexpr Fault kFaultConsumeUnsignedAsSigned{627};
inline constexpr Fault kFaultConsumeBf16AsF16{628};
inline constexpr Fault kFaultConsumeE5m2AsE4m3{629};
inline constexpr Fault kFaultConsumeRowDuplicated{630};
inline constexpr Fault kFaultConsumeHalvesExchanged{631};
// Result: accumulators and where they go.
inline constexpr Fault kFaultConsumeSaturatesAt16{640};
inline constexpr Fault kFaultConsumeLowerRowsStale{641};
inline constexpr Fault kFaultConsumeColumnsExchanged{642};
inline constexpr Fault kFaultConsumeWritesBehind{643};
inline constexpr Fault kFaultConsumeZeroOnMismatch{644};

/// All of them, in the order of their values. Each is harmless where its step does not occur.
std::span<const FaultInfo> tile_consume_faults();

}  // namespace tidemark
