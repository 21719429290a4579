// Runs one mismatched announcement as one or two thread blocks would, step by step.
#include "kernels/virtual/expect_tx.hpp"

#include <algorithm>
#include <utility>

#include "kernels/virtual/expect_tx_faults.hpp"
#include "kernels/virtual/tile_chunks.hpp"
#include "kernels/virtual/tile_memory.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kSpareTries = 8;  // beyond one for each chunk, which is enough

// The blocks of the cluster, side by side.
struct Cluster {
  const ExpectTx& op;
  TileGeometry tile;
  std::vector<SharedWindow> windows;  // one a block
  std::vector<std::uint8_t> source;
  std::vector<Mbarrier> barriers;  // in the order of announced_barrier()
  BulkEngine engine;
  Draw draw;  // for how far a copy gets before the announcement
  Fault fault;
};

Cluster make_cluster(const ExpectTx& op, Fault fault) {
  const TileLoad& load = op.load;
  const std::int64_t destination = kWindowAddress + kGuardBytes + load.destination_offset;
  return {.op = op,
          .tile = tile_geometry(load, destination, fault),
          .windows = std::vector<SharedWindow>(blocks_of(op), make_window(load)),
          .source = make_source(load),
          .barriers = std::vector<Mbarrier>(barriers_of(op), init_mbarrier(1, fault)),
          .engine = BulkEngine(load.payload.seed, fault),
          .draw = {splitmix64(load.payload.seed + 1)},
          .fault = fault};
}

// An arrival too many has no effect here: only a device with a fault comes to one.
void arrive_once(Mbarrier& barrier) {
  if (barrier.pending > 0) arrive(barrier);
}

// mbarrier.complete_tx as an instruction, not as the end of a copy.
void take_off(Mbarrier& barrier, std::uint32_t bytes) {
  const bool too_few = barrier.fault == kFaultExpectCompleteTxShort && bytes > 1;
  complete_tx(barrier, too_few ? bytes - 1 : bytes);
}

void issue(Cluster& cluster) {
  Mbarrier& named = cluster.barriers[0];
  const std::uint32_t chunks = chunk_count(cluster.tile);
  const bool over = named.tx > static_cast<std::int64_t>(chunks) * kChunkBytes;
  const auto chunk = [&cluster, &named, over, chunks](std::uint32_t index) {
    Chunk fetched = tile_chunk(cluster.tile, cluster.source, index);
    const bool last = index + 1 == chunks;
    if (cluster.fault == kFaultExpectOverLosesLast && over && last) fetched.written = 0;
    if (cluster.fault == kFaultExpectUnannouncedLost && named.tx <= 0) fetched.written = 0;
    if (cluster.fault == kFaultExpectPeerWritten && cluster.windows.size() > 1)
      store(cluster.windows[1], fetched.address, fetched);
    return fetched;
  };
  const bool misplaced = cluster.fault == kFaultExpectCreditOnOther;
  cluster.engine.issue({.chunks = chunks,
                        .chunk = chunk,
                        .destination = cluster.tile.destination,
                        .shared = &cluster.windows[0],
                        .barrier = &cluster.barriers[misplaced ? 1 : 0]});
}

void issue_or_simulate(Cluster& cluster) {
  if (!is_simulated(cluster.op)) return issue(cluster);
  for (const std::uint32_t bytes : cluster.op.simulated)
    if (bytes != 0) take_off(cluster.barriers[0], bytes);
}

// The barrier that an announcement comes to, or null where it is lost on the way.
Mbarrier* announcement_target(Cluster& cluster) {
  const AnnouncedOn on = cluster.op.on;
  if (on == AnnouncedOn::other_barrier && cluster.fault == kFaultExpectOtherOnCopys)
    return &cluster.barriers[0];
  if (on == AnnouncedOn::peer && cluster.fault == kFaultExpectRemoteLost) return nullptr;
  if (on == AnnouncedOn::peer && cluster.fault == kFaultExpectRemoteLocal)
    return &cluster.barriers[0];
  return &cluster.barriers[announced_barrier(cluster.op)];
}

void announce_and_arrive(Cluster& cluster) {
  const ExpectTx& op = cluster.op;
  Mbarrier* const target = announcement_target(cluster);
  for (std::uint32_t i = 0; i < op.announcements && target != nullptr; ++i) {
    const bool arrives = op.arrival == Arrival::with_announcement && i + 1 == op.announcements;
    if (arrives || cluster.fault != kFaultExpectAloneIgnored) expect_tx(*target, op.announced);
    if (arrives) arrive_once(*target);
  }
  if (op.arrival == Arrival::separate) arrive_once(cluster.barriers[0]);
}

// Step 2.
void mismatch(Cluster& cluster) {
  const ExpectTx& op = cluster.op;
  if (op.order == IssueOrder::announced_first) announce_and_arrive(cluster);
  issue_or_simulate(cluster);
  if (op.order == IssueOrder::issued_first)
    for (std::uint32_t i = below(cluster.draw, chunk_count(cluster.tile) + 1); i > 0; --i)
      cluster.engine.deliver_one();
  if (op.order == IssueOrder::landed_first) cluster.engine.deliver_all();
  if (op.order != IssueOrder::announced_first) announce_and_arrive(cluster);
  if (op.arrival != Arrival::late) return;
  cluster.engine.deliver_all();
  arrive_once(cluster.barriers[0]);
}

bool wait(Cluster& cluster, std::uint32_t parity) {
  return wait_bounded(cluster.engine, cluster.barriers[0], parity,
                      chunk_count(cluster.tile) + kSpareTries);
}

std::uint64_t pieces_missing(const Cluster& cluster) {
  const TileLoad& load = cluster.op.load;
  const std::uint32_t begin = kGuardBytes + load.destination_offset;
  std::uint64_t missing = 0;
  for (std::uint32_t at = begin; at < begin + tile_bytes(load.map); at += kChunkBytes) {
    bool poison = true;
    for (std::uint32_t i = at; i < at + kChunkBytes; ++i)
      poison = poison && cluster.windows[0].bytes[i] == poison_byte(load.payload, i);
    missing += poison ? 1 : 0;
  }
  return missing;
}

// Step 5 for one barrier. Returns the parity of the phase that comes next.
std::uint32_t settle(Cluster& cluster, std::uint32_t which, TransactionLedger& seen) {
  const ExpectTx& op = cluster.op;
  Mbarrier& barrier = cluster.barriers[which];
  seen.complete = test_wait(barrier, 0);
  const std::uint32_t phase = seen.complete ? 1 : 0;
  if (seen.complete || !arrives_on(op, which)) arrive_once(barrier);
  seen.settled = test_wait(barrier, phase);
  if (seen.settled) return phase ^ 1U;
  expect_tx(barrier, meter_slack(op, which));
  std::int64_t taken = meter_stride(op, which);
  if (taken > 0) take_off(barrier, meter_stride(op, which));
  for (std::uint32_t i = 0; i < meter_steps(op, which); ++i, ++taken) {
    seen.settled = test_wait(barrier, phase);
    if (seen.settled) break;
    take_off(barrier, 1);
  }
  seen.settled = test_wait(barrier, phase);
  seen.residue = taken - meter_slack(op, which);
  return phase ^ 1U;
}

// Step 7 for barrier A of block 0.
bool copy_again(Cluster& cluster, std::uint32_t parity) {
  expect_tx(cluster.barriers[0], tile_bytes(cluster.op.load.map));
  arrive_once(cluster.barriers[0]);
  issue(cluster);
  return wait(cluster, parity);
}

}  // namespace

RunResult run_virtual_expect_tx(const ExpectTx& op, Fault fault) {
  RunResult result = preflight(op.load);
  if (result.fault != DeviceFault::none) return result;

  Cluster cluster = make_cluster(op, fault);
  std::vector<TransactionLedger>& seen = result.transactions;
  seen.resize(barriers_of(op));
  for (std::uint32_t i = 0; i < seen.size(); ++i)
    seen[i].complete_before = test_wait(cluster.barriers[i], 0);
  mismatch(cluster);
  seen[0].waited = wait(cluster, op.parity);
  seen[0].pieces_missing = pieces_missing(cluster);
  cluster.engine.deliver_all();
  std::vector<std::uint32_t> next(seen.size());
  for (std::uint32_t i = 0; i < seen.size(); ++i)
    if (!seen[i].complete_before) next[i] = settle(cluster, i, seen[i]);
  for (const SharedWindow& window : cluster.windows)
    result.bytes.insert(result.bytes.end(), window.bytes.begin(), window.bytes.end());
  for (std::uint32_t i = 0; i < seen.size(); ++i)
    if (seen[i].settled) seen[i].next_complete_early = test_wait(cluster.barriers[i], next[i]);
  if (seen[0].settled) seen[0].next_complete = copy_again(cluster, next[0]);
  cluster.engine.deliver_all();
  result.surroundings = std::move(cluster.source);
  return result;
}

}  // namespace tidemark::kernels
