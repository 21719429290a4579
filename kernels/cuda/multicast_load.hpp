// Multicast loads on the GPU: one launch of one cluster a row.
#pragma once

#include "kernels/cuda/row.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/multicast_load.hpp"

namespace tidemark::kernels {

/// Runs one row (kernels/ops/multicast_load.hpp). A refused map, a phase that never completed, a
/// cluster that this GPU cannot start and a sticky error are in the result. Throws Error where
/// refusal_of(multicast) says why, for a window that shared memory cannot hold, and after a kernel
/// that never ended.
RunResult run_multicast_load(RowWorkspace& workspace, const MulticastLoad& multicast);

}  // namespace tidemark::kernels
