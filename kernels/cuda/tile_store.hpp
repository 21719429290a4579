// Tile stores on the GPU: one launch a row, on memory that is kept from row to row.
#pragma once

#include <cstdint>

#include "kernels/cuda/row.hpp"
#include "kernels/device.hpp"
#include "kernels/ops/tile_store.hpp"

namespace tidemark::kernels {

/// Runs one row (kernels/ops/tile_store.hpp). A refused map, a kernel that did not end within
/// kLaunchBoundS and a sticky error are in the result. Throws Error for a rank outside 1..5, for a
/// number of stores outside 1..kMaxStores, for a window that shared memory cannot hold, and after a
/// kernel that never ended.
RunResult run_tile_store(RowWorkspace& workspace, const TileStore& store);

/// The same on memory that the caller has filled, keeps and reads: steps 1 (the window) to 6 on the
/// allocation at `allocation`. RunResult::bytes stays empty.
RunResult run_tile_store_to(RowWorkspace& workspace, const TileStore& store, std::byte* allocation);

/// Times stores of the first box, each waited for before the next is issued, by CUDA events around
/// a launch of kStoresPerSample; TimedSample::total_ns is the time of one store.
Measurement measure_tile_store(RowWorkspace& workspace, const TileStore& store,
                               const Timing& timing);

/// Stores in one timed launch: enough that the launch itself weighs little.
inline constexpr std::uint32_t kStoresPerSample = 256;

}  // namespace tidemark::kernels
