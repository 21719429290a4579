// What host and kernel of a consumed tile tell each other, and the launches.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/ops/tile_consume.hpp"

namespace tidemark::kernels {

/// Everything the kernel saw. It does not judge: a phase that never completed is a value here.
struct TileConsumeLedger {
  std::uint32_t launch = 0;  // TileConsumeLaunch::launch, written last: the kernel came to its end
  std::uint32_t complete_before_issue = 0;
  std::uint32_t complete = 0;  // for every thread of the warpgroup
  std::uint32_t next_complete_early = 0;
  std::uint32_t announced = 0;  // bytes
  std::uint64_t waited_ns = 0;
};

/// What one launch works on. The pointers are device memory.
struct TileConsumeLaunch {
  std::uint32_t launch = 0;  // a number that no earlier launch had
  TileConsume op;
  TileConsumeLedger* ledger = nullptr;
  std::uint8_t* result = nullptr;  // result_bytes; 16-byte aligned
};

/// The largest window that the launch takes: what shared memory holds on sm_90 less room to align
/// it and for a barrier.
inline constexpr std::uint32_t kConsumeWindowMax = 220U << 10;

/// Bytes of the window in shared memory. A descriptor that reads a tile as it was not written may
/// read beyond it (wgmma then faults, seen on H200), but never beyond kConsumeWindowMax.
constexpr std::uint32_t shared_window_bytes(const TileConsume& op) {
  return reads_as_written(op) ? window_bytes(op) : kConsumeWindowMax;
}

/// Step 1, the source: writes source_allocation_bytes(op) of source_element_word.
void launch_fill_source(const TileConsume& op, std::byte* source, cudaStream_t stream);

/// The rest of steps 1 to 3 of kernels/ops/tile_consume.hpp. `row.op` has a shape that
/// shape_refusal() lets pass.
void launch_tile_consume(const CUtensorMap& a, const CUtensorMap& b, const TileConsumeLaunch& row,
                         cudaStream_t stream);

}  // namespace tidemark::kernels
