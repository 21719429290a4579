// Runs one multicast as the blocks of a cluster would, step by step.
#include "kernels/virtual/multicast_load.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "kernels/virtual/draw.hpp"
#include "kernels/virtual/multicast_delivery.hpp"
#include "kernels/virtual/tile_memory.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kWaitTries = 20000;  // a try delivers a chunk, and 227 KiB are 14528
constexpr std::uint32_t kMeterSlack = 1024;  // announced beyond the tile

VirtualCluster make_cluster(const MulticastLoad& multicast, Fault fault) {
  VirtualCluster cluster{.multicast = multicast,
                         .source = make_source(multicast.load),
                         .blocks = {},
                         .nowhere = init_mbarrier(1),
                         .fault = fault};
  for (std::uint32_t rank = 0; rank < cluster_size(multicast); ++rank) {
    VirtualCta block{.shared = make_window(multicast.load),
                     .copied = init_mbarrier(1, fault),
                     .metered = init_mbarrier(1, fault),
                     .engine = BulkEngine(multicast.load.payload.seed + rank,
                                          engine_fault(multicast, rank, fault))};
    for (std::uint8_t& byte : block.shared.bytes) byte ^= cluster_poison_twist(rank);
    cluster.blocks.push_back(std::move(block));
  }
  return cluster;
}

void deliver_all(VirtualCluster& cluster) {
  for (VirtualCta& block : cluster.blocks) block.engine.deliver_all();
}

// Waits in one block while time passes in the others, too.
bool wait_in(VirtualCluster& cluster, std::uint32_t rank, std::uint32_t parity) {
  const VirtualCta& waiting = cluster.blocks[rank];
  for (std::uint32_t i = 0; i < kWaitTries; ++i) {
    bool any = false;
    for (VirtualCta& other : cluster.blocks) any = other.engine.deliver_one() || any;
    if (cluster.blocks[rank].engine.try_wait(waiting.copied, parity)) return true;
    if (!any) break;  // nothing is on its way any more
  }
  return false;
}

// Announces an exact copy in each block of `armed`; true of test_wait(parity) before goes to
// `early`, a member of the ledgers.
void arm(VirtualCluster& cluster, const std::vector<std::uint32_t>& armed, std::uint32_t parity,
         std::vector<BarrierLedger>& ledgers, bool BarrierLedger::*early) {
  for (const std::uint32_t rank : armed) {
    VirtualCta& block = cluster.blocks[rank];
    ledgers[rank].*early = test_wait(block.copied, parity);
    arrive_expect_tx(block.copied, tile_bytes(cluster.multicast.load.map));
  }
}

// Steps 3 and 5 as far as the issue and the announcements go, in the order that is asked for.
void arm_and_issue(VirtualCluster& cluster, const std::vector<std::uint32_t>& armed,
                   std::uint32_t parity, std::vector<BarrierLedger>& ledgers,
                   bool BarrierLedger::*early) {
  if (!cluster.multicast.late_arm) arm(cluster, armed, parity, ledgers, early);
  issue_multicast(cluster, &VirtualCta::copied);
  if (!cluster.multicast.late_arm) return;
  deliver_all(cluster);  // 0.1 ms are longer than any copy takes
  arm(cluster, armed, parity, ledgers, early);
}

// Steps 3 and 4. Each window is taken at once when its wait ends: what has not landed by then comes
// too late. Which block looks first is drawn.
void first_copy(VirtualCluster& cluster, const std::vector<std::uint32_t>& masked,
                RunResult& result) {
  std::vector<std::vector<std::uint8_t>> windows(cluster.blocks.size());
  for (std::uint32_t rank = 0; rank < cluster.blocks.size(); ++rank)
    result.cta_ledgers[rank].complete_before_issue = test_wait(cluster.blocks[rank].copied, 0);
  arm_and_issue(cluster, masked, 0, result.cta_ledgers, &BarrierLedger::complete_before_issue);
  Draw draw{splitmix64(cluster.multicast.load.payload.seed)};
  const std::uint32_t first = below(draw, static_cast<std::uint32_t>(masked.size()));
  for (std::size_t i = 0; i < masked.size(); ++i) {
    const std::uint32_t rank = masked[(first + i) % masked.size()];
    result.cta_ledgers[rank].announced = tile_bytes(cluster.multicast.load.map);
    result.cta_ledgers[rank].complete = wait_in(cluster, rank, 0);
    windows[rank] = cluster.blocks[rank].shared.bytes;
  }
  deliver_all(cluster);
  for (std::uint32_t rank = 0; rank < windows.size(); ++rank) {
    if (!is_masked(cluster.multicast, rank)) {
      result.cta_ledgers[rank].complete = test_wait(cluster.blocks[rank].copied, 0);
      windows[rank] = cluster.blocks[rank].shared.bytes;
    }
    result.bytes.insert(result.bytes.end(), windows[rank].begin(), windows[rank].end());
  }
}

// Step 5.
void second_copy(VirtualCluster& cluster, const std::vector<std::uint32_t>& masked,
                 std::vector<BarrierLedger>& ledgers) {
  std::vector<std::uint32_t> going_on;
  for (const std::uint32_t rank : masked)
    if (ledgers[rank].complete) going_on.push_back(rank);
  arm_and_issue(cluster, going_on, 1, ledgers, &BarrierLedger::next_complete_early);
  for (const std::uint32_t rank : going_on) ledgers[rank].next_complete = wait_in(cluster, rank, 1);
  deliver_all(cluster);
  for (std::uint32_t rank = 0; rank < ledgers.size(); ++rank) {
    if (is_masked(cluster.multicast, rank)) continue;
    Mbarrier& barrier = cluster.blocks[rank].copied;
    ledgers[rank].next_complete_early = test_wait(barrier, 0);
    arrive(barrier);
    ledgers[rank].next_complete = test_wait(barrier, 0);
  }
}

// Step 6: counts, in each block, the single bytes that are missing from more than can have come.
void meter(VirtualCluster& cluster, std::vector<BarrierLedger>& ledgers) {
  const std::uint32_t announced = tile_bytes(cluster.multicast.load.map) + kMeterSlack;
  for (VirtualCta& block : cluster.blocks) arrive_expect_tx(block.metered, announced);
  issue_multicast(cluster, &VirtualCta::metered);
  deliver_all(cluster);
  for (std::uint32_t rank = 0; rank < ledgers.size(); ++rank) {
    Mbarrier& barrier = cluster.blocks[rank].metered;
    std::uint32_t steps = 0;
    for (; steps < announced && !test_wait(barrier, 0); ++steps) complete_tx(barrier, 1);
    ledgers[rank].credited = announced - steps;
  }
}

// A wait that ended by its bound, in words; empty where none did.
std::string timeout_note(const MulticastLoad& multicast,
                         const std::vector<BarrierLedger>& ledgers) {
  std::string note;
  for (std::uint32_t rank = 0; rank < ledgers.size(); ++rank) {
    const BarrierLedger& ledger = ledgers[rank];
    if (!is_masked(multicast, rank) || (ledger.complete && ledger.next_complete)) continue;
    note += fmt::format("{}the wait of block {} for phase {} ended by its bound",
                        note.empty() ? "" : "; ", rank, ledger.complete ? 1 : 0);
  }
  return note;
}

}  // namespace

RunResult run_virtual_multicast_load(const MulticastLoad& multicast, Fault fault) {
  if (const char* why = refusal_of(multicast); why != nullptr)
    throw Error(fmt::format("multicast load: {}", why));
  RunResult result = preflight(slice_of(multicast, 0));
  if (result.fault != DeviceFault::none) return result;
  if (result = preflight(multicast.load); result.fault != DeviceFault::none) return result;

  VirtualCluster cluster = make_cluster(multicast, fault);
  std::vector<std::uint32_t> masked;
  for (std::uint32_t rank = 0; rank < cluster.blocks.size(); ++rank)
    if (is_masked(multicast, rank)) masked.push_back(rank);
  result.cta_ledgers.resize(cluster.blocks.size());
  first_copy(cluster, masked, result);
  second_copy(cluster, masked, result.cta_ledgers);
  meter(cluster, result.cta_ledgers);
  result.surroundings = std::move(cluster.source);
  result.note = timeout_note(multicast, result.cta_ledgers);
  if (!result.note.empty()) result.fault = DeviceFault::timeout;
  return result;
}

}  // namespace tidemark::kernels
