// The host's half of a multicast load: encode the map of a slice, launch a cluster, read back what
// each block saw.
#include "kernels/cuda/multicast_load.hpp"

#include <fmt/core.h>

#include <cstring>
#include <optional>
#include <string>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/fill_source.hpp"
#include "kernels/cuda/multicast_load_kernel.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::size_t kLedgersBytes = whole_pieces(kClusterMax * sizeof(MulticastCtaLedger));

// The answer: the end (kLedgerBytes), the ledgers of all blocks, the windows of all blocks.
std::size_t answer_bytes(const MulticastLoad& multicast) {
  return kLedgerBytes + kLedgersBytes +
         cluster_size(multicast) * whole_pieces(window_bytes(multicast.load));
}

void require_sound(const MulticastLoad& multicast) {
  if (const char* why = refusal_of(multicast); why != nullptr)
    throw Error(fmt::format("multicast load: {}", why));
  static const std::uint32_t largest_window = prepare_multicast_load();
  if (window_bytes(multicast.load) > largest_window)
    throw Error(fmt::format(
        "multicast load: a window of {} bytes does not fit the {} bytes of shared memory that a "
        "block has: choose a smaller box",
        window_bytes(multicast.load), largest_window));
}

MulticastLaunch launch_of(RowWorkspace& workspace, const MulticastLoad& multicast,
                          const TileLoad& slice) {
  std::uint8_t* const answer = workspace.answer.as<std::uint8_t>();
  return {.launch = ++workspace.launches,
          .at = slice.at,
          .cluster = multicast.cluster,
          .mask = multicast.mask,
          .issuer = multicast.issuer,
          .slices = multicast.slices,
          .slice_step = slice.map.box[slice.map.rank - 1],
          .slice_bytes = tile_bytes(slice.map),
          .late_arm = multicast.late_arm,
          .destination_offset = multicast.load.destination_offset,
          .tile_bytes = tile_bytes(multicast.load.map),
          .window_bytes = window_bytes(multicast.load),
          .payload = multicast.load.payload,
          .end = reinterpret_cast<MulticastEnd*>(answer),
          .ledgers = reinterpret_cast<MulticastCtaLedger*>(answer + kLedgerBytes),
          .windows = answer + kLedgerBytes + kLedgersBytes};
}

// Adds what one block saw to the result, and to the note what a person should know of it.
void take_ledger(const MulticastLoad& multicast, std::uint32_t rank, const MulticastCtaLedger& seen,
                 RunResult& result) {
  result.cta_ledgers.push_back({.complete_before_issue = seen.complete_before_issue != 0,
                                .complete = seen.complete != 0,
                                .next_complete_early = seen.next_complete_early != 0,
                                .next_complete = seen.next_complete != 0,
                                .announced = seen.announced,
                                .credited = seen.credited});
  const auto say = [&](const std::string& words) {
    result.note += fmt::format("{}block {}: {}", result.note.empty() ? "" : "; ", rank, words);
  };
  if (is_masked(multicast, rank) && (seen.complete == 0 || seen.next_complete == 0)) {
    result.fault = DeviceFault::timeout;
    say(seen.complete == 0 ? fmt::format("phase 0 did not complete in {} us", seen.waited_ns / 1000)
                           : std::string("phase 1 did not complete inside its bound"));
  }
  if (seen.meter_ended == 0)
    say("the metered phase did not complete when all that was announced had been taken away");
}

void take_windows(const RowWorkspace& workspace, const MulticastLoad& multicast,
                  RunResult& result) {
  const std::size_t window = window_bytes(multicast.load);
  const auto* const host = workspace.host.as<std::uint8_t>();
  const auto* next = host + kLedgerBytes + kLedgersBytes;
  for (std::uint32_t rank = 0; rank < cluster_size(multicast); ++rank) {
    result.bytes.insert(result.bytes.end(), next, next + window);
    next += whole_pieces(window);
  }
}

void take_answer(const RowWorkspace& workspace, const MulticastLoad& multicast,
                 std::uint32_t launch, RunResult& result) {
  const auto* const host = workspace.host.as<std::uint8_t>();
  for (std::uint32_t rank = 0; rank < cluster_size(multicast); ++rank) {
    MulticastCtaLedger seen;
    std::memcpy(&seen, host + kLedgerBytes + rank * sizeof(seen), sizeof(seen));
    if (seen.launch != launch)
      throw Error(fmt::format("block {} of launch {} left no ledger (found that of {})", rank,
                              launch, seen.launch));
    take_ledger(multicast, rank, seen, result);
  }
  take_windows(workspace, multicast, result);
  const auto* const allocation = host + answer_bytes(multicast);
  result.surroundings.assign(allocation, allocation + source_allocation_bytes(multicast.load));
}

/// Everything but the conversion of sticky errors. Fills in what is known as it goes, so that the
/// descriptor is there even when the launch faults.
void run_row(RowWorkspace& workspace, const MulticastLoad& multicast, RunResult& result) {
  require_sound(multicast);
  const TileLoad slice = slice_of(multicast, 0);
  const Encoded encoded = encode_and_allocate(workspace, slice.map, [&] {
    return RowBytes{.answer = answer_bytes(multicast),
                    .tensor = source_allocation_bytes(multicast.load)};
  });
  if (encoded.code != CUDA_SUCCESS) {
    result.fault = DeviceFault::encode_refused;
    result.code = static_cast<std::int32_t>(encoded.code);
    result.note = encode_refusal(encoded.code);
    return;
  }
  result.descriptor = descriptor_bytes(encoded.map);

  const MulticastLaunch row = launch_of(workspace, multicast, slice);
  if (cluster_size(multicast) > kPortableClusterMax && !can_start(slice.map.rank, row)) {
    result.fault = DeviceFault::unsupported;
    result.note = fmt::format(
        "a cluster of {} blocks, each with {} bytes of shared memory, fits "
        "nowhere on this GPU",
        cluster_size(multicast), row.window_bytes);
    return;
  }
  launch_fill_source(multicast.load, workspace.tensor.data(), workspace.stream.get());
  launch_multicast_load(slice.map.rank, encoded.map, row, workspace.stream.get());
  read_back(workspace, answer_bytes(multicast), source_allocation_bytes(multicast.load));
  if (!wait_for_ledger<MulticastEnd>(workspace, row.launch)) {
    result.fault = DeviceFault::timeout;
    result.note = hung_note();
    return;
  }
  take_answer(workspace, multicast, row.launch, result);
}

}  // namespace

RunResult run_multicast_load(RowWorkspace& workspace, const MulticastLoad& multicast) {
  RunResult result;
  catch_sticky(result, [&] { run_row(workspace, multicast, result); });
  return result;
}

}  // namespace tidemark::kernels
