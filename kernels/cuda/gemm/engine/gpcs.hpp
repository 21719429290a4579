// Which SMs of the device lie together.
#pragma once

#include <cstdint>

#include "kernels/cuda/gemm/engine/placement.hpp"

namespace tidemark::kernels {

/// The GPCs of the current device, and in which of them clusters of `blocks` blocks run, an SM to
/// each block. No API tells it: small launches of clusters of several sizes show which SMs are
/// neighbours, and one more where clusters go. Once a device and process, behind all that runs
/// there, and up to three times where another process is in the way; empty where that did not help
/// or a launch failed. Says nothing of what is right, only of what is near. Throws StickyError
/// where the GPU is lost.
GpcsOfDevice gpcs_of_device(std::uint32_t blocks);

}  // namespace tidemark::kernels
