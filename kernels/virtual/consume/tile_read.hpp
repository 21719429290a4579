// A warp's read of a loaded tile on the virtual device.
#pragma once

#include "kernels/device.hpp"

namespace tidemark::kernels {

/// Runs steps 1 to 3 of TileRead; preflight() of its load says what ends it before them. A load
/// that does not complete gives timeout. Throws Error for a tile that is not of the shape TileRead
/// describes.
RunResult run_virtual_tile_read(const TileRead& read, Fault fault);

/// Counts instead of timing: every sample is predicted_wavefronts() cycles. Says nothing about a
/// GPU.
Measurement measure_virtual_tile_read(const TileRead& read, const Timing& timing, Fault fault);

}  // namespace tidemark::kernels
