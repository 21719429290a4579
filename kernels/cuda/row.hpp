// What a row keeps on a GPU.
#pragma once

#include <fmt/core.h>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "kernels/cuda/buffer.hpp"
#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/mapped_buffer.hpp"
#include "kernels/device.hpp"

namespace tidemark::kernels {

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
  DeviceBuffer answer;              // the kernel's ledger, then whatever else it hands back
  PinnedBuffer host;                // answer, then the tensor's allocation
  std::uint32_t launches = 0;       // so far; numbers the ledgers
  bool hung = false;                // a kernel never ended: its memory cannot be used again
};

/// The kernels' own waits end after about 0.2 s; a launch that takes longer than this is lost.
inline constexpr double kLaunchBoundS = 10;

/// The ledger stands first in the answer; what follows is read and written in pieces of 16 bytes.
inline constexpr std::size_t kLedgerBytes = 512;

constexpr std::size_t whole_pieces(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

/// Sizes of what a row needs, in bytes.
struct RowBytes {
  std::size_t answer = 0;  // kLedgerBytes and more
  std::size_t tensor = 0;  // the allocation of the tensor, guards included
};

/// Encodes `map` for the tensor at kGuardBytes + base_offset of the workspace's allocation from
/// `source`, and makes the memory for the row. `sizes` is asked only for maps that the driver
/// takes: those of a refused one need not make sense. Throws Error after a kernel that never ended.
Encoded encode_and_allocate(RowWorkspace& workspace, const TensorMapSpec& map,
                            const std::function<RowBytes()>& sizes,
                            MemorySource source = MemorySource::device);

/// The same for the tensor of an allocation that is not the workspace's: `answer` bytes are made.
Encoded encode_outside(RowWorkspace& workspace, const TensorMapSpec& map, std::size_t answer,
                       std::byte* allocation);

/// The tensor's allocation from `source`.
std::byte* tensor_data(const RowWorkspace& workspace, MemorySource source);

/// Makes the memory from `source` hold at least `bytes`.
void grow_tensor(RowWorkspace& workspace, MemorySource source, std::size_t bytes);

/// Starts to bring `answer` bytes of the answer, then `tensor` bytes of the tensor's allocation,
/// into host memory.
void read_back(RowWorkspace& workspace, std::size_t answer, std::size_t tensor,
               MemorySource source = MemorySource::device);

/// Waits for the stream, at most kLaunchBoundS; false marks the workspace as hung.
bool wait_for_launch(RowWorkspace& workspace);

/// The ledger of launch `number`, or nothing where the GPU did not get done in time. `Ledger` has a
/// member `launch` that the kernel writes last. Throws Error where it left none.
template <class Ledger>
std::optional<Ledger> wait_for_ledger(RowWorkspace& workspace, std::uint32_t number) {
  static_assert(sizeof(Ledger) <= kLedgerBytes && std::is_trivially_copyable_v<Ledger>);
  if (!wait_for_launch(workspace)) return std::nullopt;
  Ledger ledger;
  std::memcpy(&ledger, workspace.host.data(), sizeof(ledger));
  if (ledger.launch != number)
    throw Error(fmt::format("launch {} left no ledger (found that of {})", number, ledger.launch));
  return ledger;
}

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

// How much shared memory the windows of tile operations may take.

/// Allows each of `kernels` all the shared memory that a block can have on the current device, and
/// returns what is left for dynamic memory to the one that declares most itself. To be called once
/// before the first launch.
std::uint32_t allow_all_shared_memory(std::span<const void* const> kernels);

}  // namespace tidemark::kernels
