// Tiles that are loaded and multiplied, and their faults.
#pragma once

#include <span>

#include "kernels/device.hpp"
#include "kernels/fault.hpp"

namespace tidemark::kernels {

// A consumed tile on the virtual device: copy engine, barrier and wgmma put together.

/// Runs the steps that TileConsume describes; what preflight() says of a box ends it before them. A
/// wait that ends by its bound gives timeout, with the result still poison. Throws Error for a
/// shape that no device can run.
RunResult run_virtual_tile_consume(const TileConsume& op, Fault fault);

// The faults of a consumed tile: each changes one step of wgmma's way from shared memory to the
// result. What TMA does wrong before is among the faults of a tile load.

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

}  // namespace tidemark::kernels
