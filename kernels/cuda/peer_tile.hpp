// Copies between neighbours on GPUs: handles over the transport, then a tile load or store on the
// neighbour's memory.
#pragma once

#include "kernels/cuda/row.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/peer_tile.hpp"

namespace tidemark {

/// What rows of PeerTile keep beside the workspace of all rows.
struct PeerWorkspace {
  DeviceBuffer offered;  // the allocation of this rank that its neighbour opens
  DeviceBuffer panel;    // one offer a rank
  PinnedBuffer host;     // the same, or the allocation read back
};

/// Runs one row (kernels/ops/peer_tile.hpp). The result says what a tile load's or store's would; a
/// rank that did not come is a timeout. Throws Error as those do, without a transport, where the
/// neighbour's memory cannot be opened though it should, and where the transport fails.
RunResult run_peer_tile(RowWorkspace& rows, PeerWorkspace& peers, const PeerTile& op);

}  // namespace tidemark
