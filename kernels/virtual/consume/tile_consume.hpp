// A consumed tile on the virtual device: copy engine, barrier and wgmma put together.
#pragma once

#include "kernels/device.hpp"

namespace tidemark::kernels {

/// Runs the steps that TileConsume describes; what preflight() says of a box ends it before them. A
/// wait that ends by its bound gives timeout, with the result still poison. Throws Error for a
/// shape that no device can run.
RunResult run_virtual_tile_consume(const TileConsume& op, Fault fault);

}  // namespace tidemark::kernels
