// What a row keeps on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/mapped_buffer.hpp"
#include "kernels/device.hpp"

namespace tidemark {

// What every tile operation does on the host's side of a row: memory that is kept from row to row,
// encode, read back, wait, and sticky errors as values.

/// What rows keep, on the device that was current when it was made.
struct RowWorkspace {
  Stream stream;
  DeviceBuffer tensor;              // the allocation that the tensor map points into
  PoolBuffer async_tensor;          // instead of `tensor`, for rows with MemorySource::async
  PinnedBuffer pinned_tensor;       // for MemorySource::pinned
  MappedBuffer mapped_tensor;       // for MemorySource::mapped
  std::vector<MappedBuffer> edges;  // for MemorySource::edge, one a region
  DeviceBuffer flush;               // larger than L2
  DeviceBuffer orders;              // programs: what a launch is to do
  DeviceBuffer answer;              // what a kernel hands back
  PinnedBuffer host;                // answer, then regions
  std::uint32_t launches = 0;       // so far; numbers the ends of CTAs
  bool hung = false;                // a kernel never ended: its memory cannot be used again
};

/// The kernels' own waits end after about 0.2 s; a launch that takes longer than this is lost.
inline constexpr double kLaunchBoundS = 10;

/// The tensor's allocation from `source`.
std::byte* tensor_data(const RowWorkspace& workspace, MemorySource source);

/// Makes the memory from `source` hold at least `bytes`.
void grow_tensor(RowWorkspace& workspace, MemorySource source, std::size_t bytes);

/// Waits for the stream, at most kLaunchBoundS; false marks the workspace as hung.
bool wait_for_launch(RowWorkspace& workspace);

/// What to say of a kernel that never ended.
std::string hung_note();

/// Seconds since 1970, for TimedSample::at_unix_s.
double unix_seconds();

/// Runs `row` and turns a StickyError into the fault of `result` (RunResult or Measurement), which
/// keeps what was filled in before.
template <class Result, class Row>
void catch_sticky(Result& result, const Row& row) {
  try {
    row();
  } catch (const StickyError& fault) {
    result.fault = DeviceFault::sticky;
    result.code = static_cast<std::int32_t>(fault.code);
    result.note = fault.what();
  }
}

}  // namespace tidemark
