// What host and kernel of a tile round trip tell each other, and the launches.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/ops/tile_round_trip.hpp"

namespace tidemark::kernels {

/// What one block saw. It does not judge.
struct TileRoundTripLedger {
  std::uint32_t launch = 0;  // TileRoundTripLaunch::launch, written last: the block came to its end
  std::uint32_t early = 0;   // a phase was complete before its load was announced
  std::uint32_t completed = 0;  // tiles whose load completed
  std::uint32_t late = 0;       // the phase behind the last read as complete
  std::uint32_t announced = 0;  // bytes, of all tiles
};

/// What one launch works on. The pointers are device memory.
struct TileRoundTripLaunch {
  std::uint32_t launch = 0;  // a number that no earlier launch had
  TileRoundTrip trip;
  std::uint8_t* source = nullptr;       // trip_allocation_bytes(trip.from)
  std::uint8_t* destination = nullptr;  // trip_allocation_bytes(trip.to); null in place
  std::uint8_t* ledgers = nullptr;      // of block b at b * ledger_pitch
  std::uint32_t ledger_pitch = 0;
  std::uint8_t* windows = nullptr;  // of block b at b * trip_windows * window_pitch
  std::uint32_t window_pitch = 0;   // trip_window_bytes rounded up to 1024, in shared memory too
};

/// The most bytes that the windows of a block may take on the current device. Prepares the kernel
/// for it: to be called once before the first launch.
std::uint32_t prepare_tile_round_trip();

/// Step 1 of kernels/ops/tile_round_trip.hpp.
void launch_fill_round_trip(const TileRoundTripLaunch& row, cudaStream_t stream);

/// Step 2.
void launch_tile_round_trip(const CUtensorMap& from, const CUtensorMap& to,
                            const TileRoundTripLaunch& row, cudaStream_t stream);

}  // namespace tidemark::kernels
