// Consumed tiles on the GPU: one launch a row, on memory that is kept from row to row.
#pragma once

#include "kernels/cuda/row.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/tile_consume.hpp"

namespace tidemark::kernels {

/// Runs one row (kernels/ops/tile_consume.hpp). A refused map, a phase that never completed and a
/// sticky error are in the result; RunResult::descriptor is the tensor map of A. Throws Error for a
/// shape that no device can run and after a kernel that never ended.
RunResult run_tile_consume(RowWorkspace& workspace, const TileConsume& op);

}  // namespace tidemark::kernels
