// Tiles that are loaded and read by lanes, and their faults.
#pragma once

#include <span>

#include "kernels/device.hpp"
#include "kernels/fault.hpp"

namespace tidemark::kernels {

// A warp's read of a loaded tile on the virtual device.

/// Runs steps 1 to 3 of TileRead; preflight() of its load says what ends it before them. A load
/// that does not complete gives timeout. Throws Error for a tile that is not of the shape TileRead
/// describes.
RunResult run_virtual_tile_read(const TileRead& read, Fault fault);

/// Counts instead of timing: every sample is predicted_wavefronts() cycles. Says nothing about a
/// GPU.
Measurement measure_virtual_tile_read(const TileRead& read, const Timing& timing, Fault fault);

// The faults of a warp's read: each changes the address or the data of some lanes.

inline constexpr Fault kFaultReadLaneStale{801};
inline constexpr Fault kFaultReadNeighbourRow{802};
inline constexpr Fault kFaultReadNextColumn{803};
inline constexpr Fault kFaultReadSwizzleIgnored{804};
inline constexpr Fault kFaultReadWordsRotated{805};
inline constexpr Fault kFaultReadLastLaneRepeats{806};
inline constexpr Fault kFaultReadFirstGroupOnly{807};
inline constexpr Fault kFaultReadBitFlipped{808};
inline constexpr Fault kFaultReadTooEarly{809};

/// All of them, in the order of their values. Each is harmless where its step does not occur.
std::span<const FaultInfo> tile_read_faults();

}  // namespace tidemark::kernels
