// Work for all SMs that takes a chosen time: what a benchmark without units is slowed by, and what
// leaves other kernels no SM.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace tidemark {

/// Starts, on `stream`, products of bf16 matrices (wgmma) on every SM for `ns` (at most 0.5 s; more
/// is cut). A kernel that needs 3 KiB of shared memory has no room beside them. What runs before it
/// in the stream has ended by then. To the time comes that of a launch, some microseconds.
void launch_spin(std::uint64_t ns, cudaStream_t stream);

}  // namespace tidemark
