// A tile load on the virtual device: memory, barrier and engine put together.
#pragma once

#include "kernels/device.hpp"

namespace tidemark {

/// Shared memory that a CTA may have on sm_90, in bytes. CUDA C Programming Guide, compute
/// capability 9.0.
inline constexpr std::uint64_t kSharedBytesMax = 232448;

/// Runs the five steps that TileLoad describes. A map the driver would refuse gives encode_refused,
/// an inner coordinate off 16 bytes sticky 715, a destination off 128 bytes sticky 716; a wait that
/// ends by its bound gives timeout, with bytes, surroundings and ledger all the same.
/// Throws Error where the tile does not fit shared memory or the tensor 1 GiB.
RunResult run_virtual_tile_load(const TileLoad& load, Fault fault);

/// Times whole runs on the host's clock; says nothing about a GPU. Throws as running does.
Measurement measure_virtual_tile_load(const TileLoad& load, const Timing& timing, Fault fault);

}  // namespace tidemark
