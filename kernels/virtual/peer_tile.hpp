// Copies between neighbours on the virtual device: their memory travels by the transport.
#pragma once

#include "kernels/device.hpp"

namespace tidemark::kernels {

/// Runs the steps that PeerTile describes. The neighbour's allocation comes as a panel, the copy
/// runs on it here, and what became of it goes back to its owner. Without a transport this process
/// plays the neighbour and the rank before as well.
RunResult run_virtual_peer_tile(const PeerTile& op, Fault fault);

}  // namespace tidemark::kernels
