// What host and kernel of a multicast load tell each other, and the launch.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "kernels/ops/multicast_load.hpp"

namespace tidemark::kernels {

/// What one block saw. It does not judge: a phase that never completed is a value here.
struct MulticastCtaLedger {
  std::uint32_t launch = 0;  // MulticastLaunch::launch
  std::uint32_t complete_before_issue = 0;
  std::uint32_t complete = 0;
  std::uint32_t next_complete_early = 0;
  std::uint32_t next_complete = 0;
  std::uint32_t announced = 0;    // bytes, in steps 3 and 5 each
  std::uint32_t credited = 0;     // bytes, by the meter
  std::uint32_t meter_ended = 0;  // the metered phase did complete
  std::uint64_t waited_ns = 0;    // for phase 0
};

/// Stands first in the answer, written last, when all blocks have come to their end.
struct MulticastEnd {
  std::uint32_t launch = 0;
};

/// What one launch works on. The pointers are device memory.
struct MulticastLaunch {
  std::uint32_t launch = 0;                 // a number that no earlier launch had
  std::array<std::int32_t, kMaxRank> at{};  // of slice 0
  std::array<std::uint32_t, 3> cluster{1, 1, 1};
  std::uint16_t mask = 0;
  std::uint32_t issuer = 0;
  std::uint32_t slices = 1;
  std::uint32_t slice_step = 0;   // from one slice to the next: outermost coordinate,
  std::uint32_t slice_bytes = 0;  // and bytes in the window
  bool late_arm = false;
  std::uint32_t destination_offset = 0;
  std::uint32_t tile_bytes = 0;    // all slices
  std::uint32_t window_bytes = 0;  // of one block
  Payload payload;
  MulticastEnd* end = nullptr;
  MulticastCtaLedger* ledgers = nullptr;  // one a block, by rank
  std::uint8_t* windows = nullptr;        // by rank, window_bytes rounded up to 16 apart
};

/// The largest window that fits the shared memory of a block on the current device. Prepares the
/// kernels for it and for clusters of up to kClusterMax: to be called once before the first launch.
std::uint32_t prepare_multicast_load();

/// Whether the current device can start the cluster of `row` at all. Those of up to
/// kPortableClusterMax blocks it can.
bool can_start(std::uint32_t rank, const MulticastLaunch& row);

/// Steps 1 (the windows) to 6 of kernels/ops/multicast_load.hpp, in a grid of one cluster. `map` is
/// of one slice.
void launch_multicast_load(std::uint32_t rank, const CUtensorMap& map, const MulticastLaunch& row,
                           cudaStream_t stream);

}  // namespace tidemark::kernels
