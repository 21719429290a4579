// A warp's read of a loaded tile on the GPU: one launch a row.
#pragma once

#include "kernels/cuda/row.hpp"
#include "kernels/ops/tile_read.hpp"

namespace tidemark::kernels {

/// Runs steps 1 to 3 of TileRead. A refused map, a load that never completed and a sticky error are
/// in the result. Throws Error for a tile that is not of the shape TileRead describes, for one that
/// shared memory cannot hold, and after a kernel that never ended.
RunResult run_tile_read(RowWorkspace& workspace, const TileRead& read);

/// Times step 4: TimedSample::cycles are the SM's clock cycles, total_ns the nanoseconds of the
/// whole launch, divided by all the warps' reads.
Measurement measure_tile_read(RowWorkspace& workspace, const TileRead& read, const Timing& timing);

}  // namespace tidemark::kernels
