// The host's half of a tile load: encode, launch, read back, say what came of it.
#include "kernels/cuda/tile_load.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/tile_load_kernel.hpp"
#include "kernels/slowdown.hpp"

namespace tidemark::kernels {
namespace {

void require_sound(const TileLoad& load) {
  if (load.map.rank < 1 || load.map.rank > kMaxRank)
    throw Error(fmt::format("tile load: rank {} is outside 1..{}", load.map.rank, kMaxRank));
  static const std::uint32_t largest_window = prepare_tile_load();
  if (window_bytes(load) > largest_window)
    throw Error(
        fmt::format("tile load: a window of {} bytes does not fit the {} bytes of shared "
                    "memory that a block has: choose a smaller box",
                    window_bytes(load), largest_window));
}

constexpr std::size_t kWindows = 1 + kLaterCopies;

std::size_t answer_bytes(const TileLoad& load) {
  return kLedgerBytes + kWindows * whole_pieces(window_bytes(load));
}

Encoded encode_here(RowWorkspace& workspace, const TileLoad& load) {
  const auto sizes = [&] {
    return RowBytes{.answer = answer_bytes(load), .tensor = source_allocation_bytes(load)};
  };
  return encode_and_allocate(workspace, load.map, sizes, load.source);
}

TileLoadLaunch launch_of(RowWorkspace& workspace, const TileLoad& load) {
  return {.launch = ++workspace.launches,
          .at = load.at,
          .destination_offset = load.destination_offset,
          .tile_bytes = tile_bytes(load.map),
          .window_bytes = window_bytes(load),
          .copies = kCopiesPerSample,
          .hint = load.hint,
          .payload = load.payload,
          .ledger = workspace.answer.as<TileLoadLedger>(),
          .windows = workspace.answer.as<std::uint8_t>() + kLedgerBytes};
}

void take_ledger(const TileLoad& load, const TileLoadLedger& seen, RunResult& result) {
  result.ledger = {.complete_before_issue = seen.complete_before_issue != 0,
                   .complete = seen.complete != 0,
                   .next_complete_early = seen.next_complete_early != 0,
                   .next_complete = seen.next_complete != 0,
                   .announced = seen.announced,
                   .credited = seen.credited,
                   .metered_next_early = seen.metered_next_early != 0,
                   .metered_next_lost = seen.metered_next_lost != 0};
  const auto say = [&](const std::string& words) {
    result.note += (result.note.empty() ? "" : "; ") + words;
  };
  if (seen.complete == 0 || seen.next_complete == 0 || seen.metered_next_lost != 0)
    result.fault = DeviceFault::timeout;
  if (seen.complete == 0)
    say(fmt::format("phase 0 did not complete in {} us, and no second copy was issued",
                    seen.waited_ns / 1000));
  else if (seen.next_complete == 0)
    say("phase 1 did not complete inside its bound");
  if (seen.metered_next_lost != 0)
    say("phase 1 of the metered barrier did not complete inside its bound");
  if (seen.meter_ended == 0)
    say("the metered phase did not complete when all that was announced had been taken away");
  else if (seen.credited == tile_bytes(load.map) + kMeterSlack)
    say("the meter's slack was used up: the copy credited at least this many bytes");
}

bool refused(const Encoded& encoded, RunResult& result) {
  if (encoded.code == CUDA_SUCCESS) {
    result.descriptor = descriptor_bytes(encoded.map);
    return false;
  }
  result.fault = DeviceFault::encode_refused;
  result.code = static_cast<std::int32_t>(encoded.code);
  result.note = encode_refusal(encoded.code);
  return true;
}

/// Launches, waits and takes what the kernel saw; and `source` bytes of the workspace's tensor.
void launch_and_take(RowWorkspace& workspace, const TileLoad& load, const CUtensorMap& map,
                     std::size_t source, RunResult& result) {
  const TileLoadLaunch row = launch_of(workspace, load);
  const std::size_t window = whole_pieces(row.window_bytes);
  const std::size_t answer = answer_bytes(load);
  launch_tile_load(load.map.rank, map, row, workspace.stream.get());
  read_back(workspace, answer, source, load.source);
  const std::optional<TileLoadLedger> ledger =
      wait_for_ledger<TileLoadLedger>(workspace, row.launch);
  if (!ledger) {
    result.fault = DeviceFault::timeout;
    result.note = hung_note();
    return;
  }
  take_ledger(load, *ledger, result);
  const auto* const first = workspace.host.as<std::uint8_t>() + kLedgerBytes;
  result.bytes.assign(first, first + row.window_bytes);
  for (std::size_t i = 1; i < std::min<std::size_t>(ledger->windows, kWindows); ++i)
    result.later.emplace_back(first + i * window, first + i * window + row.window_bytes);
  const auto* const allocation = workspace.host.as<std::uint8_t>() + answer;
  result.surroundings.assign(allocation, allocation + source);
}

/// Everything but the conversion of sticky errors. Fills in what is known as it goes, so that the
/// descriptor is there even when the launch faults.
void run_row(RowWorkspace& workspace, const TileLoad& load, RunResult& result) {
  require_sound(load);
  const Encoded encoded = encode_here(workspace, load);
  if (refused(encoded, result)) return;
  launch_fill_source(load, tensor_data(workspace, load.source), workspace.stream.get());
  launch_and_take(workspace, load, encoded.map, source_allocation_bytes(load), result);
}

void run_row_from(RowWorkspace& workspace, const TileLoad& load, std::byte* allocation,
                  RunResult& result) {
  require_sound(load);
  const Encoded encoded = encode_outside(workspace, load.map, answer_bytes(load), allocation);
  if (refused(encoded, result)) return;
  launch_and_take(workspace, load, encoded.map, 0, result);
}

void measure_row(RowWorkspace& workspace, const TileLoad& load, const Timing& timing,
                 Measurement& result) {
  require_sound(load);
  const Encoded encoded = encode_here(workspace, load);
  if (encoded.code != CUDA_SUCCESS) {
    result.fault = DeviceFault::encode_refused;
    result.code = static_cast<std::int32_t>(encoded.code);
    result.note = encode_refusal(encoded.code);
    return;
  }
  const Event began(Event::Kind::timing);
  const Event ended(Event::Kind::timing);
  const cudaStream_t stream = workspace.stream.get();
  launch_fill_source(load, tensor_data(workspace, load.source), stream);
  for (std::uint32_t i = 0; i < timing.warmups + timing.samples; ++i) {
    TileLoadLaunch row = launch_of(workspace, load);
    if (i >= timing.warmups) row.copies += extra_units(kCopiesPerSample, timing.slow);
    cuda_check(cudaEventRecord(began.get(), stream), "record the start of a sample");
    launch_timed_tile_load(load.map.rank, encoded.map, row, stream);
    cuda_check(cudaEventRecord(ended.get(), stream), "record the end of a sample");
    read_back(workspace, kLedgerBytes, 0);
    const std::optional<TileLoadLedger> ledger =
        wait_for_ledger<TileLoadLedger>(workspace, row.launch);
    if (!ledger || ledger->complete == 0) {
      result.fault = DeviceFault::timeout;
      result.note = ledger ? "a timed copy did not complete inside its bound" : hung_note();
      return;
    }
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, began.get(), ended.get()), "time a sample");
    if (i < timing.warmups) continue;
    result.samples.push_back(
        {.at_unix_s = unix_seconds(), .total_ns = double{milliseconds} * 1e6 / kCopiesPerSample});
  }
  result.note =
      fmt::format("each sample is the mean of {} copies, each waited for", kCopiesPerSample) +
      slowed_note(kCopiesPerSample, timing.slow, "copies");
}

}  // namespace

RunResult run_tile_load(RowWorkspace& workspace, const TileLoad& load) {
  RunResult result;
  catch_sticky(result, [&] { run_row(workspace, load, result); });
  return result;
}

RunResult run_tile_load_from(RowWorkspace& workspace, const TileLoad& load, std::byte* allocation) {
  RunResult result;
  catch_sticky(result, [&] { run_row_from(workspace, load, allocation, result); });
  return result;
}

Measurement measure_tile_load(RowWorkspace& workspace, const TileLoad& load, const Timing& timing) {
  Measurement result;
  catch_sticky(result, [&] { measure_row(workspace, load, timing, result); });
  if (result.fault == DeviceFault::sticky) result.samples.clear();
  return result;
}

}  // namespace tidemark::kernels
