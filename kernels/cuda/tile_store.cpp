// The host's half of a tile store: encode, launch, read back, say what came of it.
#include "kernels/cuda/tile_store.hpp"

#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <thread>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/encode.hpp"
#include "kernels/cuda/tile_store_kernel.hpp"
#include "kernels/slowdown.hpp"

namespace tidemark::kernels {
namespace {

/// A store takes microseconds.
constexpr std::chrono::milliseconds kUnwaitedRest{1};

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

std::size_t answer_bytes(const TileStore& store) {
  return kLedgerBytes + whole_pieces(window_bytes(store));
}

Encoded encode_here(RowWorkspace& workspace, const TileStore& store) {
  return encode_and_allocate(workspace, store.map, [&] {
    return RowBytes{.answer = answer_bytes(store), .tensor = destination_allocation_bytes(store)};
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

TileStoreLaunch launch_of(RowWorkspace& workspace, const TileStore& store,
                          const std::byte* destination) {
  TileStoreLaunch row{.launch = ++workspace.launches,
                      .stores = store.stores,
                      .empty_groups = store.empty_groups,
                      .bystander = store.bystander,
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
                      .destination = reinterpret_cast<const std::uint8_t*>(destination)};
  for (std::uint32_t group = 0; group < kMaxStores; ++group) {
    row.at[group] = box_at(store, group);
    if (group < store.stores) row.behind[group] = groups_behind(store, group);
    for (std::uint32_t probe = 0; probe < kProbes; ++probe)
      row.probe[group][probe] = probe_offset(store, group, probe);
  }
  return row;
}

/// What this launch wrote of the ledger; the rest is that of earlier ones.
StoreLedger reads_of(const TileStore& store, const TileStoreLedger& ledger) {
  StoreLedger reads;
  if (ends_unwaited(store)) return reads;
  reads.read = ledger.stored.read;
  for (std::uint32_t group = 0; store.bystander && group < store.stores; ++group)
    reads.by_other[group] = ledger.stored.by_other[group];
  return reads;
}

/// Launches, waits and takes what the kernel saw; and `destination` bytes of the workspace's
/// tensor.
void launch_and_take(RowWorkspace& workspace, const TileStore& store, const CUtensorMap& map,
                     const TileStoreLaunch& row, std::size_t destination, RunResult& result) {
  const std::size_t answer = answer_bytes(store);
  launch_tile_store(store.map.rank, map, row, workspace.stream.get());
  read_back(workspace, answer, destination);
  const std::optional<TileStoreLedger> ledger =
      wait_for_ledger<TileStoreLedger>(workspace, row.launch);
  if (!ledger) {
    result.fault = DeviceFault::timeout;
    result.note = fmt::format(
        "a wait for a group of stores, or the kernel, did not end within {} s", kLaunchBoundS);
    return;
  }
  // The next row takes the same memory: what nobody waited for must not land there.
  if (ends_unwaited(store)) std::this_thread::sleep_for(kUnwaitedRest);
  result.stored = reads_of(store, *ledger);
  const auto* const window = workspace.host.as<std::uint8_t>() + kLedgerBytes;
  const auto* const allocation = workspace.host.as<std::uint8_t>() + answer;
  result.bytes.assign(allocation, allocation + destination);
  result.surroundings.assign(window, window + row.window_bytes);
}

/// Everything but the conversion of sticky errors. Fills in what is known as it goes, so that the
/// descriptor is there even when the launch faults.
void run_row(RowWorkspace& workspace, const TileStore& store, RunResult& result) {
  require_sound(store);
  const Encoded encoded = encode_here(workspace, store);
  if (refused(encoded, result)) return;
  result.descriptor = descriptor_bytes(encoded.map);
  std::byte* const destination = workspace.tensor.data();
  launch_fill_destination(store, destination, workspace.stream.get());
  launch_and_take(workspace, store, encoded.map, launch_of(workspace, store, destination),
                  destination_allocation_bytes(store), result);
}

void run_row_to(RowWorkspace& workspace, const TileStore& store, std::byte* allocation,
                RunResult& result) {
  require_sound(store);
  const Encoded encoded = encode_outside(workspace, store.map, answer_bytes(store), allocation);
  if (refused(encoded, result)) return;
  result.descriptor = descriptor_bytes(encoded.map);
  launch_and_take(workspace, store, encoded.map, launch_of(workspace, store, allocation), 0,
                  result);
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
    TileStoreLaunch row = launch_of(workspace, store, workspace.tensor.data());
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

RunResult run_tile_store_to(RowWorkspace& workspace, const TileStore& store,
                            std::byte* allocation) {
  RunResult result;
  catch_sticky(result, [&] { run_row_to(workspace, store, allocation, result); });
  return result;
}

Measurement measure_tile_store(RowWorkspace& workspace, const TileStore& store,
                               const Timing& timing) {
  Measurement result;
  catch_sticky(result, [&] { measure_row(workspace, store, timing, result); });
  if (result.fault == DeviceFault::sticky) result.samples.clear();
  return result;
}

}  // namespace tidemark::kernels
