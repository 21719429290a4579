// What host and kernel of a tile load tell each other, and the launches.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "kernels/ops/tile_load.hpp"

namespace tidemark::kernels {

/// Everything the kernel saw. It does not judge: a phase that never completed is a value here.
struct TileLoadLedger {
  std::uint32_t launch = 0;  // TileLoadLaunch::launch, written last: the kernel came to its end
  std::uint32_t complete_before_issue = 0;
  std::uint32_t complete = 0;
  std::uint32_t next_complete_early = 0;
  std::uint32_t next_complete = 0;
  std::uint32_t announced = 0;    // bytes, by the meter without a copy
  std::uint32_t credited = 0;     // bytes, by the meter
  std::uint32_t meter_ended = 0;  // the metered phase did complete
  std::uint32_t metered_next_early = 0;
  std::uint32_t metered_next_lost = 0;
  std::uint32_t windows = 0;    // handed out, the first included
  std::uint64_t waited_ns = 0;  // for phase 0
};

/// What one launch works on. The pointers are device memory.
struct TileLoadLaunch {
  std::uint32_t launch = 0;  // a number that no earlier launch had
  std::array<std::int32_t, kMaxRank> at{};
  std::uint32_t destination_offset = 0;
  std::uint32_t tile_bytes = 0;
  std::uint32_t window_bytes = 0;
  std::uint32_t copies = 0;  // timed launches only
  CacheHint hint = CacheHint::none;
  Payload payload;
  TileLoadLedger* ledger = nullptr;
  std::uint8_t* windows =
      nullptr;  // 1 + kLaterCopies of window_bytes rounded up to 16; aligned to 16
};

/// Bytes that the meter announces beyond the tile, so that a copy which credits too much is seen
/// to. Each is taken away alone, some 40 ns.
inline constexpr std::uint32_t kMeterSlack = 512;

/// The largest window that fits the shared memory of a block on the current device. Prepares the
/// kernels for it: to be called once before the first launch.
std::uint32_t prepare_tile_load();

/// Step 1, the source: writes source_allocation_bytes(load) of source_element_word.
void launch_fill_source(const TileLoad& load, std::byte* source, cudaStream_t stream);

/// Steps 1 (the window) to 6 of kernels/ops/tile_load.hpp.
void launch_tile_load(std::uint32_t rank, const CUtensorMap& map, const TileLoadLaunch& row,
                      cudaStream_t stream);

/// `row.copies` copies one after the other, each waited for; only ledger and its `complete` are
/// written.
void launch_timed_tile_load(std::uint32_t rank, const CUtensorMap& map, const TileLoadLaunch& row,
                            cudaStream_t stream);

}  // namespace tidemark::kernels
