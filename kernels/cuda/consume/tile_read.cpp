// The host's half of a warp's read: encode, fill, launch, read back.
#include "kernels/cuda/consume/tile_read.hpp"

#include <fmt/core.h>

#include "kernels/cuda/consume/tile_read_kernel.hpp"
#include "kernels/cuda/fill_region.hpp"
#include "kernels/slowdown.hpp"
#include "kernels/tile_read_shape.hpp"

namespace tidemark::kernels {
namespace {

constexpr double kTimedReads = double{kReadingWarps} * kReadsPerWarp;

void require_sound(const TileRead& read) {
  require_readable(read);
  static const std::uint32_t largest = prepare_tile_read();
  if (tile_read_bytes(read) > largest)
    throw Error(
        fmt::format("tile read: {} bytes do not fit the {} bytes of shared memory that a "
                    "block has: choose a smaller box",
                    tile_read_bytes(read), largest));
}

constexpr std::size_t answer_bytes() { return kLedgerBytes + kLaneBytes + kSumBytes; }

/// False where the driver refused the map; `result` then says so.
template <class Result>
bool encode_here(RowWorkspace& workspace, const TileRead& read, CUtensorMap& map, Result& result) {
  require_sound(read);
  const Encoded encoded = encode_and_allocate(workspace, read.load.map, [&] {
    return RowBytes{.answer = answer_bytes(), .tensor = source_allocation_bytes(read.load)};
  });
  map = encoded.map;
  if (encoded.code == CUDA_SUCCESS) return true;
  result.fault = DeviceFault::encode_refused;
  result.code = static_cast<std::int32_t>(encoded.code);
  result.note = encode_refusal(encoded.code);
  return false;
}

TileReadLaunch launch_of(RowWorkspace& workspace, const TileRead& read, bool timed) {
  return {.launch = ++workspace.launches,
          .timed = timed ? 1U : 0U,
          .read = read,
          .ledger = workspace.answer.as<TileReadLedger>(),
          .lanes = reinterpret_cast<uint4*>(workspace.answer.data() + kLedgerBytes)};
}

/// One launch with all that it left behind in `result`; its ledger, or nothing where it hung.
std::optional<TileReadLedger> run_once(RowWorkspace& workspace, const TileRead& read,
                                       const CUtensorMap& map, bool timed, RunResult& result) {
  const TileReadLaunch row = launch_of(workspace, read, timed);
  const std::size_t source = source_allocation_bytes(read.load);
  result.descriptor = descriptor_bytes(map);
  launch_fill_region(source_task(read.load, workspace.tensor.data()), workspace.stream.get());
  launch_tile_read(map, row, workspace.stream.get());
  read_back(workspace, answer_bytes(), source);
  const auto ledger = wait_for_ledger<TileReadLedger>(workspace, row.launch);
  if (!ledger) {
    result.fault = DeviceFault::timeout;
    result.note = hung_note();
    return ledger;
  }
  result.ledger.complete = ledger->complete != 0;
  const auto* const lanes = workspace.host.as<std::uint8_t>() + kLedgerBytes;
  const auto* const allocation = workspace.host.as<std::uint8_t>() + answer_bytes();
  result.bytes.assign(lanes, lanes + kLaneBytes);
  result.surroundings.assign(allocation, allocation + source);
  if (ledger->complete == 0) {
    result.fault = DeviceFault::timeout;
    result.note = fmt::format("phase 0 did not complete in {} us", ledger->waited_ns / 1000);
  }
  return ledger;
}

void measure_row(RowWorkspace& workspace, const TileRead& read, const Timing& timing,
                 Measurement& result) {
  CUtensorMap map{};
  if (!encode_here(workspace, read, map, result)) return;
  const Event began(Event::Kind::timing);
  const Event ended(Event::Kind::timing);
  const cudaStream_t stream = workspace.stream.get();
  launch_fill_region(source_task(read.load, workspace.tensor.data()), stream);
  for (std::uint32_t i = 0; i < timing.warmups + timing.samples; ++i) {
    TileReadLaunch row = launch_of(workspace, read, true);
    if (i >= timing.warmups) row.extra_reads = extra_units(kReadsPerWarp, timing.slow);
    cuda_check(cudaEventRecord(began.get(), stream), "record the start of a sample");
    launch_tile_read(map, row, stream);
    cuda_check(cudaEventRecord(ended.get(), stream), "record the end of a sample");
    read_back(workspace, kLedgerBytes, 0);
    const auto ledger = wait_for_ledger<TileReadLedger>(workspace, row.launch);
    if (!ledger || ledger->complete == 0) {
      result.fault = DeviceFault::timeout;
      result.note = ledger ? "a timed load did not complete inside its bound" : hung_note();
      return;
    }
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, began.get(), ended.get()), "time a sample");
    if (i < timing.warmups) continue;
    result.samples.push_back({.at_unix_s = unix_seconds(),
                              .total_ns = double{milliseconds} * 1e6 / kTimedReads,
                              .cycles = static_cast<double>(ledger->cycles) / kTimedReads});
  }
  (void)run_once(workspace, read, map, true, result.last);
  result.note = fmt::format("each sample is the mean of {} reads of each of {} warps",
                            kReadsPerWarp, kReadingWarps) +
                slowed_note(kReadsPerWarp, timing.slow, "reads");
}

}  // namespace

RunResult run_tile_read(RowWorkspace& workspace, const TileRead& read) {
  RunResult result;
  catch_sticky(result, [&] {
    CUtensorMap map{};
    if (encode_here(workspace, read, map, result))
      (void)run_once(workspace, read, map, false, result);
  });
  return result;
}

Measurement measure_tile_read(RowWorkspace& workspace, const TileRead& read, const Timing& timing) {
  Measurement result;
  catch_sticky(result, [&] { measure_row(workspace, read, timing, result); });
  if (result.fault == DeviceFault::sticky) result.samples.clear();
  return result;
}

}  // namespace tidemark::kernels
