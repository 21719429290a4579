// Tiles in the memory of another GPU, and their faults.
#pragma once

#include <span>

#include "kernels/device.hpp"
#include "kernels/fault.hpp"

namespace tidemark {

// Copies between neighbours on the virtual device: their memory travels by the transport.

/// Runs the steps that PeerTile describes. The neighbour's allocation comes as a panel, the copy
/// runs on it here, and what became of it goes back to its owner. Without a transport this process
/// plays the neighbour and the rank before as well.
RunResult run_virtual_peer_tile(const PeerTile& op, Fault fault);

// The steps of a copy between neighbours that can be told to be wrong; the copy itself can go wrong
// as tile loads and tile stores do.

inline constexpr Fault kFaultPeerOwnMemory{940};
inline constexpr Fault kFaultPeerTailStale{941};
inline constexpr Fault kFaultPeerAllStale{942};
inline constexpr Fault kFaultPeerGuardSkipped{943};

/// All of them, in the order of their values.
std::span<const FaultInfo> peer_tile_faults();

}  // namespace tidemark
