// The steps of a copy between neighbours that can be told to be wrong; the copy itself can go wrong
// as tile loads and tile stores do.
#pragma once

#include <span>

#include "kernels/fault.hpp"

namespace tidemark::kernels {

inline constexpr Fault kFaultPeerOwnMemory{940};
inline constexpr Fault kFaultPeerTailStale{941};
inline constexpr Fault kFaultPeerAllStale{942};
inline constexpr Fault kFaultPeerGuardSkipped{943};

/// All of them, in the order of their values.
std::span<const FaultInfo> peer_tile_faults();

}  // namespace tidemark::kernels
