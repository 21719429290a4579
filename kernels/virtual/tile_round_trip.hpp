// A tile round trip on the virtual device.
#pragma once

#include "kernels/device.hpp"

namespace tidemark::kernels {

/// Runs the steps that TileRoundTrip describes. A refused map, an inner coordinate off 16 bytes and
/// a store that starts before its tensor give what a GPU gives. A wait that ends by its bound gives
/// timeout, with all that was left behind. Throws Error for what the operation does not allow.
RunResult run_virtual_tile_round_trip(const TileRoundTrip& trip, Fault fault);

}  // namespace tidemark::kernels
