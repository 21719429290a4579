// Chunks of tiles that threads move, and the faults of a warp's read.
#pragma once

#include <span>

#include "kernels/fault.hpp"
#include "kernels/virtual/program/program_run.hpp"

namespace tidemark {

void take_place_rows(const Turn& turn);
void take_read_columns(const Turn& turn);

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

}  // namespace tidemark
