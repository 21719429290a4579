// Runs one tile load as a single thread block would, step by step.
#include "kernels/virtual/tile_load.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "kernels/virtual/measure_runs.hpp"
#include "kernels/virtual/tile_chunks.hpp"
#include "kernels/virtual/tile_load_faults.hpp"
#include "kernels/virtual/tile_memory.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kWaitTries = 20000;  // a try delivers a chunk, and 227 KiB are 14528
constexpr std::uint32_t kMeterSlack = 4096;  // announced beyond the tile

// Everything of the thread block that the steps share.
struct VirtualBlock {
  const TileLoad& load;
  TileGeometry tile;
  SharedWindow shared;
  std::vector<std::uint8_t> poison;  // what the window holds before each copy
  std::vector<std::uint8_t> source;
  BulkEngine engine;
  Fault fault;
  bool dropped = false;      // copies are illegal and come to nothing
  std::uint32_t copies = 0;  // issued
};

// Whether the last chunk of copy number `copy` is to be lost.
bool loses_last_chunk(Fault fault, std::uint32_t copy) {
  return (fault == kFaultSecondCopyShort && copy == 2) ||
         (fault == kFaultLaterCopyShort && copy > 2);
}

// Poisons the window and issues a copy into it. Nothing of earlier copies may be in flight.
void issue(VirtualBlock& block, Mbarrier& barrier) {
  block.shared.bytes = block.poison;
  if (block.dropped) return;
  const std::uint32_t chunks = chunk_count(block.tile);
  const bool short_one = loses_last_chunk(block.fault, ++block.copies);
  const auto chunk = [&block, chunks, short_one](std::uint32_t index) {
    Chunk fetched = tile_chunk(block.tile, block.source, index);
    if (block.fault == kFaultSourceOverwritten && index == 0)
      std::memcpy(&block.source[kGuardBytes - kChunkBytes], fetched.bytes.data(), kChunkBytes);
    if (short_one && index + 1 == chunks) fetched.written = 0;
    return fetched;
  };
  block.engine.issue({.chunks = chunks,
                      .chunk = chunk,
                      .destination = block.tile.destination,
                      .shared = &block.shared,
                      .barrier = &barrier});
}

// Announces and issues an exact copy, waits for it and hands the window out. What has not landed by
// then comes too late for the reader; it lands before anything else happens.
bool copy_and_wait(VirtualBlock& block, Mbarrier& barrier, std::uint32_t parity,
                   std::vector<std::uint8_t>& window) {
  arrive_expect_tx(barrier, tile_bytes(block.load.map));
  issue(block, barrier);
  const bool complete = wait_bounded(block.engine, barrier, parity, kWaitTries);
  window = block.shared.bytes;
  block.engine.deliver_all();
  return complete;
}

// Takes single bytes off the phase 0 of `barrier` until it completes, at most `most`.
std::uint32_t bytes_to_complete(Mbarrier& barrier, std::uint32_t most) {
  std::uint32_t taken = 0;
  for (; taken < most && !test_wait(barrier, 0); ++taken) complete_tx(barrier, 1);
  return taken;
}

// Announces a tile that never comes, and counts what has to be taken away until the phase flips.
std::uint64_t announced_bytes(const VirtualBlock& block) {
  Mbarrier barrier = init_mbarrier(1, block.fault);
  const std::uint32_t tile = tile_bytes(block.load.map);
  arrive_expect_tx(barrier, tile);
  if (test_wait(barrier, 0)) return 0;
  const std::uint32_t at_once = tile - kChunkBytes;  // the rest byte by byte
  if (at_once > 0) complete_tx(barrier, at_once);
  const std::uint32_t taken = bytes_to_complete(barrier, 2 * kChunkBytes);
  return test_wait(barrier, 0) ? at_once + taken : 0;
}

// Announces more than a copy can credit, lets it finish, and counts single bytes until the phase
// flips: the rest of the announcement is what the copy has credited. Then tries the barrier's next
// phase with an exact copy.
void meter(VirtualBlock& block, RunResult& result) {
  Mbarrier barrier = init_mbarrier(1, block.fault);
  const std::uint32_t announced = tile_bytes(block.load.map) + kMeterSlack;
  arrive_expect_tx(barrier, announced);
  issue(block, barrier);
  block.engine.deliver_all();
  const std::uint32_t taken = bytes_to_complete(barrier, announced);
  result.ledger.credited = announced - taken;
  if (!test_wait(barrier, 0)) return;
  result.later.push_back(block.shared.bytes);
  if (taken == 0) return;  // it completed though more was announced: who knows in which phase it is
  if (block.fault == kFaultCreditLate) complete_tx(barrier, kChunkBytes);
  result.ledger.metered_next_early = test_wait(barrier, 1);
  result.ledger.metered_next_lost = !copy_and_wait(block, barrier, 1, result.later.emplace_back());
}

// The first wait that ended by its bound, in words; empty where none did.
std::string lost_wait(const BarrierLedger& ledger) {
  if (!ledger.complete) return "the wait for phase 0 ended by its bound";
  if (!ledger.next_complete) return "the wait for phase 1 ended by its bound";
  if (ledger.metered_next_lost)
    return "the wait for phase 1 of the metered barrier ended by its bound";
  return {};
}

}  // namespace

RunResult run_virtual_tile_load(const TileLoad& load, Fault fault) {
  // Nothing to fill where a copy is refused: its sizes need not make sense.
  const bool refused = preflight(load, {}).fault == DeviceFault::encode_refused;
  return run_virtual_tile_load(load, fault,
                               refused ? std::vector<std::uint8_t>{} : make_source(load));
}

RunResult run_virtual_tile_load(const TileLoad& load, Fault fault,
                                std::vector<std::uint8_t> source) {
  const IllegalCopyRules rules = load_rules(fault);
  TileLoad taken = load;  // for what the engine takes the copy
  round_start(rules, load.map.type, taken.at, taken.destination_offset);
  RunResult result = preflight(taken, rules);
  const bool dropped = result.fault == DeviceFault::sticky && rules.error_lost;
  if (dropped) result = {};
  if (result.fault != DeviceFault::none) return result;

  const std::int64_t destination = kWindowAddress + kGuardBytes + taken.destination_offset;
  SharedWindow shared = make_window(load);
  VirtualBlock block{.load = load,
                     .tile = tile_geometry(taken, destination, fault),
                     .shared = shared,
                     .poison = std::move(shared.bytes),
                     .source = std::move(source),
                     .engine = BulkEngine(load.payload.seed, fault),
                     .fault = fault,
                     .dropped = dropped};
  BarrierLedger& ledger = result.ledger;
  ledger.announced = announced_bytes(block);
  Mbarrier barrier = init_mbarrier(1, fault);
  ledger.complete_before_issue = test_wait(barrier, 0);
  ledger.complete = copy_and_wait(block, barrier, 0, result.bytes);
  if (ledger.complete) {
    ledger.next_complete_early = test_wait(barrier, 1);
    ledger.next_complete = copy_and_wait(block, barrier, 1, result.later.emplace_back());
  }
  meter(block, result);
  result.surroundings = std::move(block.source);
  result.note = lost_wait(ledger);
  if (!result.note.empty()) result.fault = DeviceFault::timeout;
  return result;
}

Measurement measure_virtual_tile_load(const TileLoad& load, const Timing& timing, Fault fault) {
  return measure_runs(timing, [&] { return run_virtual_tile_load(load, fault); });
}

}  // namespace tidemark::kernels
