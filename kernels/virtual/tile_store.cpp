// Runs the tile stores of one row as a single thread block would, step by step.
#include "kernels/virtual/tile_store.hpp"

#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "kernels/virtual/measure_runs.hpp"
#include "kernels/virtual/store_chunks.hpp"
#include "kernels/virtual/tile_memory.hpp"
#include "kernels/virtual/tile_store_faults.hpp"

namespace tidemark::kernels {
namespace {

RunResult store_preflight(const TileStore& store, const IllegalCopyRules& rules) {
  if (store.stores < 1 || store.stores > kMaxStores)
    throw Error(fmt::format("tile store: {} stores; take 1 to {}", store.stores, kMaxStores));
  RunResult result = preflight(store.map, store.at, store.source_offset, store.stores, rules);
  if (result.fault != DeviceFault::none || rules.negative_clipped) return result;
  for (std::uint32_t i = 0; i < store.map.rank; ++i)
    if (store.at[i] < 0)
      return sticky_error(rules.illegal,
                          fmt::format("coordinate {} of dimension {} is negative", store.at[i], i));
  return result;
}

std::vector<std::uint8_t> make_destination(const TileStore& store) {
  std::vector<std::uint8_t> destination(destination_allocation_bytes(store));
  std::uint64_t offset = 0;
  for (std::uint8_t& byte : destination) byte = poison_byte(store.payload, offset++);
  return destination;
}

SharedWindow make_source_window(const TileStore& store) {
  SharedWindow window{.address = kWindowAddress,
                      .bytes = std::vector<std::uint8_t>(window_bytes(store))};
  for (std::uint32_t i = 0; i < window.bytes.size() / 4; ++i) {
    const std::uint32_t word = source_window_word(store, i);
    std::memcpy(&window.bytes[std::size_t{4} * i], &word, 4);
  }
  return window;
}

void overwrite_tile(const TileStore& store, std::uint32_t group, SharedWindow& window) {
  const std::uint32_t begin = tile_offset(store, group);
  for (std::uint32_t at = begin; at < begin + tile_bytes(store.map); at += 4) {
    const std::uint32_t word = overwritten_word(store, at / 4);
    std::memcpy(&window.bytes[at], &word, 4);
  }
}

using GroupProbes = std::array<StoreLedger::ProbedChunk, kProbes>;

void read_probes(const TileStore& store, std::uint32_t group,
                 std::span<const std::uint8_t> destination, GroupProbes& read) {
  for (std::uint32_t probe = 0; probe < kProbes; ++probe) {
    const std::uint64_t offset = probe_offset(store, group, probe);
    if (offset != kNowhere) std::memcpy(read[probe].data(), &destination[offset], kChunkBytes);
  }
}

// Step 2. What of it is dropped as illegal makes no group at all.
void issue_stores(const TileStore& taken, Fault fault, StoreEngine& engine) {
  const auto commit_nothing = [&](std::uint32_t bit) {
    if ((taken.empty_groups >> bit & 1U) != 0) engine.issue({});
  };
  for (std::uint32_t group = 0; group < taken.stores; ++group) {
    const std::uint32_t from = fault == kFaultStoreFirstTileAgain ? 0 : group;
    commit_nothing(group);
    engine.issue(store_chunks(taken, group, kWindowAddress + tile_offset(taken, from), fault));
  }
  commit_nothing(taken.stores);
}

// Steps 3 to 5.
void wait_for_stores(const TileStore& store, StoreEngine& engine, SharedWindow& window,
                     const std::vector<std::uint8_t>& destination, StoreLedger& ledger) {
  if (store.bystander) {
    engine.wait_of_other_thread();
    for (std::uint32_t group = 0; group < store.stores; ++group)
      read_probes(store, group, destination, ledger.by_other[group]);
  }
  if (store.wait == StoreWait::read)
    for (std::uint32_t group = 0; group < store.stores; ++group) {
      engine.wait_read(groups_behind(store, group));
      overwrite_tile(store, group, window);
    }
  for (std::uint32_t group = 0; group < store.stores; ++group) {
    engine.wait_complete(groups_behind(store, group));
    read_probes(store, group, destination, ledger.read[group]);
  }
  engine.wait_complete(0);
}

}  // namespace

RunResult run_virtual_tile_store(const TileStore& store, Fault fault) {
  // Nothing to poison where a store is refused: its sizes need not make sense.
  const bool refused = store_preflight(store, {}).fault == DeviceFault::encode_refused;
  return run_virtual_tile_store(store, fault,
                                refused ? std::vector<std::uint8_t>{} : make_destination(store));
}

RunResult run_virtual_tile_store(const TileStore& store, Fault fault,
                                 std::vector<std::uint8_t> destination) {
  const IllegalCopyRules rules = store_rules(fault);
  TileStore taken = store;  // for what the engine takes the stores
  round_start(rules, store.map.type, taken.at, taken.source_offset);
  RunResult result = store_preflight(taken, rules);
  const bool dropped = result.fault == DeviceFault::sticky && rules.error_lost;
  if (dropped) result = {};
  if (result.fault != DeviceFault::none) return result;

  SharedWindow window = make_source_window(store);
  StoreEngine engine(store.payload.seed, store.map.type, window, destination, fault);
  if (!dropped) issue_stores(taken, fault, engine);
  if (store.wait == StoreWait::only_read) engine.wait_read(0);
  if (!ends_unwaited(store)) wait_for_stores(store, engine, window, destination, result.stored);
  result.surroundings = window.bytes;  // at once, as the block reads it
  engine.finish();
  result.bytes = std::move(destination);
  return result;
}

Measurement measure_virtual_tile_store(const TileStore& store, const Timing& timing, Fault fault) {
  return measure_runs(timing, [&] { return run_virtual_tile_store(store, fault); });
}

}  // namespace tidemark::kernels
