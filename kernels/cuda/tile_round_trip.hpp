// Tile round trips on the GPU: one launch a row, on memory that is kept from row to row.
#pragma once

#include "kernels/cuda/row.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/tile_round_trip.hpp"

namespace tidemark::kernels {

/// Runs one row (kernels/ops/tile_round_trip.hpp). A refused map, a phase that never completed and
/// a sticky error are in the result. Throws Error for parameters that the operation does not allow,
/// for windows that shared memory cannot hold, and after a kernel that never ended.
RunResult run_tile_round_trip(RowWorkspace& workspace, const TileRoundTrip& trip);

}  // namespace tidemark::kernels
