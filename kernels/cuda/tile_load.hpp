// Tile loads on the GPU: one launch a row, on memory that is kept from row to row.
#pragma once

#include <cstdint>

#include "kernels/cuda/row.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark::kernels {

/// Runs one row (kernels/ops/tile_load.hpp). A refused map, a phase that never completed and a
/// sticky error are in the result. Throws Error for a rank outside 1..5, for a window that shared
/// memory cannot hold, and after a kernel that never ended.
RunResult run_tile_load(RowWorkspace& workspace, const TileLoad& load);

/// The same on memory that the caller has filled and keeps: steps 2 to 6 on the allocation at
/// `allocation`. RunResult::surroundings stays empty.
RunResult run_tile_load_from(RowWorkspace& workspace, const TileLoad& load, std::byte* allocation);

/// Times copies of one tile, each waited for before the next is issued, by CUDA events around a
/// launch of kCopiesPerSample; TimedSample::total_ns is the time of one copy.
Measurement measure_tile_load(RowWorkspace& workspace, const TileLoad& load, const Timing& timing);

/// Copies in one timed launch: enough that the launch itself weighs little.
inline constexpr std::uint32_t kCopiesPerSample = 256;

}  // namespace tidemark::kernels
