// Runs one tile load as a single thread block would, step by step.
#include "kernels/virtual/tile_load.hpp"

#include <cstring>

#include <fmt/format.h>

#include "kernels/virtual/tile_chunks.hpp"
#include "kernels/virtual/tile_load_faults.hpp"
#include "kernels/virtual/tile_memory.hpp"
#include "kernels/virtual/time_runs.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kWaitTries = 20000;  // a try delivers a chunk, and 227 KiB are 14528
constexpr std::uint32_t kMeterSlack = 4096;  // announced beyond the tile

// Everything of the thread block that the steps share.
struct VirtualBlock {
  const TileLoad& load;
  TileGeometry tile;
  SharedWindow shared;
  std::vector<std::uint8_t> source;
  BulkEngine engine;
  Fault fault;
};

void issue(VirtualBlock& block, Mbarrier& barrier) {
  const auto chunk = [&block](std::uint32_t index) {
    Chunk fetched = tile_chunk(block.tile, block.source, index);
    if (block.fault == kFaultSourceOverwritten && index == 0)
      std::memcpy(&block.source[kGuardBytes - kChunkBytes], fetched.bytes.data(), kChunkBytes);
    return fetched;
  };
  block.engine.issue({.chunks = chunk_count(block.tile),
                      .chunk = chunk,
                      .destination = block.tile.destination,
                      .shared = &block.shared,
                      .barrier = &barrier});
}

// Announces and issues an exact copy and waits for it.
bool copy_and_wait(VirtualBlock& block, Mbarrier& barrier, std::uint32_t parity) {
  arrive_expect_tx(barrier, tile_bytes(block.load.map));
  issue(block, barrier);
  return wait_bounded(block.engine, barrier, parity, kWaitTries);
}

// Announces more than a copy can credit, lets it finish, and counts single bytes until the phase
// flips: the rest of the announcement is what the copy has credited.
std::uint64_t credited_bytes(VirtualBlock& block) {
  Mbarrier barrier = init_mbarrier(1, block.fault);
  const std::uint32_t announced = tile_bytes(block.load.map) + kMeterSlack;
  arrive_expect_tx(barrier, announced);
  issue(block, barrier);
  block.engine.deliver_all();
  std::uint32_t steps = 0;
  for (; steps < announced && !test_wait(barrier, 0); ++steps) complete_tx(barrier, 1);
  return announced - steps;
}

}  // namespace

RunResult run_virtual_tile_load(const TileLoad& load, Fault fault) {
  RunResult result = preflight(load);
  if (result.fault != DeviceFault::none) return result;

  const std::int64_t destination = kWindowAddress + kGuardBytes + load.destination_offset;
  VirtualBlock block{.load = load,
                     .tile = tile_geometry(load, destination, fault),
                     .shared = make_window(load),
                     .source = make_source(load),
                     .engine = BulkEngine(load.payload.seed, fault),
                     .fault = fault};
  Mbarrier barrier = init_mbarrier(1, fault);
  BarrierLedger& ledger = result.ledger;
  ledger.announced = tile_bytes(load.map);
  ledger.complete_before_issue = test_wait(barrier, 0);
  ledger.complete = copy_and_wait(block, barrier, 0);
  result.bytes = block.shared.bytes;  // at once: what has not landed by now comes too late
  block.engine.deliver_all();         // reading back takes longer than any copy
  if (ledger.complete) {
    ledger.next_complete_early = test_wait(barrier, 1);
    ledger.next_complete = copy_and_wait(block, barrier, 1);
    block.engine.deliver_all();
  }
  ledger.credited = credited_bytes(block);
  result.surroundings = std::move(block.source);
  if (!ledger.complete || !ledger.next_complete) {
    result.fault = DeviceFault::timeout;
    result.note = fmt::format("the wait for phase {} ended by its bound", ledger.complete ? 1 : 0);
  }
  return result;
}

Measurement measure_virtual_tile_load(const TileLoad& load, const Timing& timing, Fault fault) {
  return time_runs(timing, [&] { return run_virtual_tile_load(load, fault); });
}

}  // namespace tidemark
