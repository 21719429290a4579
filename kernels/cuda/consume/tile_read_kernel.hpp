// What host and kernel of a warp's read tell each other, and the launches.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/ops/tile_read.hpp"

namespace tidemark::kernels {

/// Everything the kernel saw.
struct TileReadLedger {
  std::uint32_t launch = 0;  // TileReadLaunch::launch, written last: the kernel came to its end
  std::uint32_t complete = 0;
  std::uint64_t waited_ns = 0;
  std::int64_t cycles = 0;  // timed launches: from the first to the last read of the block
};

/// What one launch works on. The pointers are device memory.
struct TileReadLaunch {
  std::uint32_t launch = 0;       // a number that no earlier launch had
  std::uint32_t timed = 0;        // 1: step 4 as well
  std::uint32_t extra_reads = 0;  // of each warp, on top of kReadsPerWarp: slowed on purpose
  TileRead read;
  TileReadLedger* ledger = nullptr;
  uint4* lanes = nullptr;  // 32 chunks, then one word of sums for each timed thread
};

/// Bytes behind the ledger: what the lanes read, then the sums that keep timed reads alive.
inline constexpr std::uint32_t kLaneBytes = kWarpLanes * kReadBytes;
inline constexpr std::uint32_t kSumBytes = kReadingWarps * kWarpLanes * 4;

/// The largest shared memory in bytes that window and unsplit area may take together. Prepares the
/// kernel for it: to be called once before the first launch.
std::uint32_t prepare_tile_read();

/// Shared memory that a row needs, in bytes.
std::uint32_t tile_read_bytes(const TileRead& read);

/// Steps 1 (the window) to 3 of kernels/ops/tile_read.hpp, and 4 where timed.
void launch_tile_read(const CUtensorMap& map, const TileReadLaunch& row, cudaStream_t stream);

}  // namespace tidemark::kernels
