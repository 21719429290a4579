// The host's half of a tile store: encode, launch, read back, say what came of it.
#include "kernels/cuda/tile_store.hpp"

#include <fmt/core.h>

#include <optional>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/tile_store_kernel.hpp"
#include "kernels/slowdown.hpp"

namespace tidemark {
namespace {

void require_sound(const TileStore& store) {
  if (store.map.rank < 1 || store.map.rank > kMaxRank)
    throw Error(fmt::format("tile store: rank {} is outside 1..{}", store.map.rank, kMaxRank));
  if (store.stores < 1 || store.stores > kMaxStores)
    throw Error(fmt::format("tile store: {} stores; take 1 to {}", store.stores, kMaxStores));
  static const std::uint32_t largest_window = prepare_tile_store();
  if (window_bytes(store) > largest_window)
    throw Error(
        fmt::format("tile store: a window of {} bytes does not fit the {} bytes of shared "
                    "memory that a block has: choose a smaller box or fewer stores",
                    window_bytes(store), largest_window));
}

Encoded encode_here(RowWorkspace& workspace, const TileStore& store) {
  return encode_and_allocate(workspace, store.map, [&] {
    return RowBytes{.answer = kLedgerBytes + whole_pieces(window_bytes(store)),
                    .tensor = destination_allocation_bytes(store)};
  });
}

template <class Result>
bool refused(const Encoded& encoded, Result& result) {
  if (encoded.code == CUDA_SUCCESS) return false;
  result.fault = DeviceFault::encode_refused;
  result.code = static_cast<std::int32_t>(encoded.code);
  result.note = encode_refusal(encoded.code);
  return true;
}

TileStoreLaunch launch_of(RowWorkspace& workspace, const TileStore& store) {
  TileStoreLaunch row{.launch = ++workspace.launches,
                      .stores = store.stores,
                      .wait = store.wait,
                      .type = store.map.type,
                      .first_tile = tile_offset(store, 0),
                      .tile_pitch = tile_pitch(store),
                      .tile_bytes = tile_bytes(store.map),
                      .window_bytes = window_bytes(store),
                      .copies = kStoresPerSample,
                      .payload = store.payload,
                      .ledger = workspace.answer.as<TileStoreLedger>(),
                      .window = workspace.answer.as<std::uint8_t>() + kLedgerBytes,
                      .destination = workspace.tensor.as<std::uint8_t>()};
  for (std::uint32_t group = 0; group < kMaxStores; ++group) {
    row.at[group] = box_at(store, group);
    for (std::uint32_t probe = 0; probe < kProbes; ++probe)
      row.probe[group][probe] = probe_offset(store, group, probe);
  }
  return row;
}

/// Everything but the conversion of sticky errors. Fills in what is known as it goes, so that the
/// descriptor is there even when the launch faults.
void run_row(RowWorkspace& workspace, const TileStore& store, RunResult& result) {
  require_sound(store);
  const Encoded encoded = encode_here(workspace, store);
  if (refused(encoded, result)) return;
  result.descriptor = descriptor_bytes(encoded.map);

  const TileStoreLaunch row = launch_of(workspace, store);
  const std::size_t destination = destination_allocation_bytes(store);
  const std::size_t answer = kLedgerBytes + whole_pieces(row.window_bytes);
  launch_fill_destination(store, workspace.tensor.data(), workspace.stream.get());
  launch_tile_store(store.map.rank, encoded.map, row, workspace.stream.get());
  read_back(workspace, answer, destination);
  const std::optional<TileStoreLedger> ledger =
      wait_for_ledger<TileStoreLedger>(workspace, row.launch);
  if (!ledger) {
    result.fault = DeviceFault::timeout;
    result.note = fmt::format(
        "a wait for a group of stores, or the kernel, did not end within {} s", kLaunchBoundS);
    return;
  }
  result.stored = ledger->stored;
  const auto* const window = workspace.host.as<std::uint8_t>() + kLedgerBytes;
  const auto* const allocation = workspace.host.as<std::uint8_t>() + answer;
  result.bytes.assign(allocation, allocation + destination);
  result.surroundings.assign(window, window + row.window_bytes);
}

void measure_row(RowWorkspace& workspace, const TileStore& store, const Timing& timing,
                 Measurement& result) {
  require_sound(store);
  const Encoded encoded = encode_here(workspace, store);
  if (refused(encoded, result)) return;
  const Event began(Event::Kind::timing);
  const Event ended(Event::Kind::timing);
  const cudaStream_t stream = workspace.stream.get();
  for (std::uint32_t i = 0; i < timing.warmups + timing.samples; ++i) {
    TileStoreLaunch row = launch_of(workspace, store);
    if (i >= timing.warmups) row.copies += extra_units(kStoresPerSample, timing.slow);
    cuda_check(cudaEventRecord(began.get(), stream), "record the start of a sample");
    launch_timed_tile_store(store.map.rank, encoded.map, row, stream);
    cuda_check(cudaEventRecord(ended.get(), stream), "record the end of a sample");
    read_back(workspace, kLedgerBytes, 0);
    if (!wait_for_ledger<TileStoreLedger>(workspace, row.launch)) {
      result.fault = DeviceFault::timeout;
      result.note = hung_note();
      return;
    }
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, began.get(), ended.get()), "time a sample");
    if (i < timing.warmups) continue;
    result.samples.push_back(
        {.at_unix_s = unix_seconds(), .total_ns = double{milliseconds} * 1e6 / kStoresPerSample});
  }
  result.note =
      fmt::format("each sample is the mean of {} stores, each waited for", kStoresPerSample) +
      slowed_note(kStoresPerSample, timing.slow, "stores");
}

}  // namespace

RunResult run_tile_store(RowWorkspace& workspace, const TileStore& store) {
  RunResult result;
  catch_sticky(result, [&] { run_row(workspace, store, result); });
  return result;
}

Measurement measure_tile_store(RowWorkspace& workspace, const TileStore& store,
                               const Timing& timing) {
  Measurement result;
  catch_sticky(result, [&] { measure_row(workspace, store, timing, result); });
  if (result.fault == DeviceFault::sticky) result.samples.clear();
  return result;
}

}  // namespace tidemark
