// Waiting for a stream without waiting for ever.
#pragma once

#include <cuda_runtime_api.h>

namespace tidemark::kernels {

/// Waits until everything in `stream` is done; false when `seconds` passed first. Throws
/// StickyError or Error where what ran there failed.
bool wait_for_stream(cudaStream_t stream, double seconds);

}  // namespace tidemark::kernels
