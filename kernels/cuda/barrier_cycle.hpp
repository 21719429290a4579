// Barrier cycles on the GPU: one launch a row, on memory that is kept from row to row.
#pragma once

#include "kernels/cuda/row.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/barrier_cycle.hpp"

namespace tidemark::kernels {

/// Runs one row (kernels/ops/barrier_cycle.hpp). A refused map, a phase that never completed and a
/// sticky error are in the result. Throws Error for parameters that the operation does not allow,
/// for more phases than the ledger holds (64), for a window that shared memory cannot hold, and
/// after a kernel that never ended.
RunResult run_barrier_cycle(RowWorkspace& workspace, const BarrierCycle& cycle);

}  // namespace tidemark::kernels
