// A tile load on the virtual device: memory, barrier and engine put together.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"

namespace tidemark::kernels {

/// Runs the steps that TileLoad describes; preflight() says what ends it before them. A wait
/// that ends by its bound gives timeout, with bytes, surroundings and ledger all the same.
RunResult run_virtual_tile_load(const TileLoad& load, Fault fault);

/// The same with `source` as the source allocation, whoever filled it.
RunResult run_virtual_tile_load(const TileLoad& load, Fault fault,
                                std::vector<std::uint8_t> source);

/// Times whole runs on the host's clock; says nothing about a GPU. Throws as running does.
Measurement measure_virtual_tile_load(const TileLoad& load, const Timing& timing, Fault fault);

}  // namespace tidemark::kernels
