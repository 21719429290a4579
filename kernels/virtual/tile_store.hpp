// Tile stores on the virtual device: memory and engine put together.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"

namespace tidemark::kernels {

/// Runs the steps that TileStore describes. What the kernel ends without waiting for lands at its
/// end, and element strides are taken as loads take them: no document says either, H200s do both.
/// A map that the driver would refuse gives encode_refused; an inner coordinate off 16 bytes and a
/// negative coordinate sticky 715, a source off 128 bytes sticky 716. Throws Error for a number of
/// stores outside 1..kMaxStores, and where the window does not fit shared memory or the tensor 1
/// GiB.
RunResult run_virtual_tile_store(const TileStore& store, Fault fault);

/// The same with `destination` as the allocation that is stored to, whoever filled it.
RunResult run_virtual_tile_store(const TileStore& store, Fault fault,
                                 std::vector<std::uint8_t> destination);

/// Times whole runs on the host's clock; says nothing about a GPU. Throws as running does.
Measurement measure_virtual_tile_store(const TileStore& store, const Timing& timing, Fault fault);

}  // namespace tidemark::kernels
