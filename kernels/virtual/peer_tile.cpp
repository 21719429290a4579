// Tiles in the memory of another GPU, and their faults.
#include "kernels/virtual/peer_tile.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/virtual/copies/bulk_engine.hpp"
#include "kernels/virtual/gemm/gemm_panels.hpp"
#include "kernels/virtual/program/program.hpp"
#include "kernels/virtual/program/program_run.hpp"

namespace tidemark {

// Moves allocations between ranks, and runs the copy of one rank on its neighbour's.

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t kPanelPeerMemory = 3;

// The allocation that `rank` offers, before anything is copied.
Bytes offered_by(const PeerTile& op, std::uint32_t rank) {
  return filled_region(peer_program(op).regions[0], rank_payload(op, rank));
}

// `memory` as somebody sees it to whom not all of it has come.
Bytes seen(const PeerTile& op, Bytes memory, Fault fault) {
  const std::size_t end = kGuardBytes + op.map.base_offset + tensor_bytes(op.map);
  const std::size_t stale = fault == kFaultPeerAllStale    ? memory.size()
                            : fault == kFaultPeerTailStale ? kChunkBytes
                                                           : 0;
  const std::size_t last = fault == kFaultPeerAllStale ? memory.size() : end;
  for (std::size_t i = last - std::min(stale, last); i < last; ++i)
    memory[i] = poison_byte(rank_payload(op, op.rank), i);
  if (fault == kFaultPeerGuardSkipped)
    std::rotate(memory.begin(), memory.begin() + kGuardBytes, memory.end());
  return memory;
}

// What the copy of one rank came to, and what it left in the neighbour's memory and in its own.
struct PeerCopy {
  RunResult result;
  Bytes neighbours, own;
};

PeerCopy copy_of(const PeerTile& op, const Bytes& neighbours, const Bytes& own, Fault fault) {
  const bool loads = op.way == PeerWay::load;
  const bool astray = fault == kFaultPeerOwnMemory;
  const Bytes& named = astray ? own : neighbours;
  const Bytes memory = loads ? seen(op, named, fault) : named;
  PeerCopy copy{.result = run_virtual_peer_program(peer_program(op), fault, memory),
                .neighbours = neighbours,
                .own = own};
  const Bytes& left = copy.result.surroundings;
  // A load leaves memory as it was, unless a fault of the engine writes there.
  if (left.empty() || left == memory) return copy;
  (astray ? copy.own : copy.neighbours) = loads ? left : seen(op, left, fault);
  return copy;
}

// Sends `mine` to all and hands back what rank `whose` sent; nothing where it did not come in time,
// with `late` saying which.
Bytes exchange(const PeerTile& op, const Bytes& mine, std::uint32_t whose, std::string& late) {
  Bytes all(mine.size() * op.ranks);
  std::copy(mine.begin(), mine.end(),
            all.begin() + static_cast<std::ptrdiff_t>(mine.size() * op.rank));
  PanelBuffer panel{.id = kPanelPeerMemory,
                    .base = reinterpret_cast<std::byte*>(all.data()),
                    .row_bytes = mine.size(),
                    .shards = {}};
  for (std::uint32_t rank = 0; rank < op.ranks; ++rank) panel.shards.push_back({rank, rank, 1});
  late = gather(*op.transport, {&panel, 1}, op.rank, op.deadline_s);
  if (!late.empty()) return {};
  const auto from = all.begin() + static_cast<std::ptrdiff_t>(mine.size() * whose);
  return {from, from + static_cast<std::ptrdiff_t>(mine.size())};
}

RunResult others_late(std::string late) {
  RunResult result;
  result.fault = DeviceFault::others_late;
  result.note = std::move(late);
  return result;
}

// This rank's own allocation in the end: what the rank before left there.
RunResult finished(PeerCopy copy, Bytes own, Fault fault) {
  RunResult result = std::move(copy.result);
  if (!result.surroundings.empty())
    result.surroundings = fault == kFaultPeerOwnMemory ? std::move(copy.own) : std::move(own);
  return result;
}

RunResult run_over_transport(const PeerTile& op, Fault fault) {
  const Bytes own = offered_by(op, op.rank);
  std::string late;
  const Bytes neighbours = exchange(op, own, next_rank(op), late);
  if (!late.empty()) return others_late(late);
  PeerCopy copy = copy_of(op, neighbours, own, fault);
  Bytes left = exchange(op, copy.neighbours, previous_rank(op), late);
  if (!late.empty()) return others_late(late);
  return finished(std::move(copy), std::move(left), fault);
}

RunResult run_all_alone(const PeerTile& op, Fault fault) {
  PeerTile before = op;
  before.rank = previous_rank(op);
  const Bytes own = offered_by(op, op.rank);
  PeerCopy copy = copy_of(op, offered_by(op, next_rank(op)), own, fault);
  PeerCopy into_mine = copy_of(before, own, offered_by(op, before.rank), fault);
  return finished(std::move(copy), std::move(into_mine.neighbours), fault);
}

}  // namespace

RunResult run_virtual_peer_tile(const PeerTile& op, Fault fault) {
  if (op.ranks < 2) {
    RunResult result;
    result.fault = DeviceFault::unsupported;
    result.note = "one GPU alone has no neighbour: start two ranks or more";
    return result;
  }
  if (op.rank >= op.ranks)
    throw Error(fmt::format("peer tile: rank {} of {} does not exist", op.rank, op.ranks));
  // A refused map has no allocation that makes sense, on no rank.
  RunResult before = preflight(peer_program(op), fault);
  if (before.fault != DeviceFault::none) return before;
  return op.transport == nullptr ? run_all_alone(op, fault) : run_over_transport(op, fault);
}

// What each fault of a copy between neighbours is called and does.

namespace {

constexpr FaultInfo peer_fault(Fault fault, std::string_view name, std::string_view step) {
  return {.fault = fault, .op = OpKind::peer_tile, .name = name, .step = step};
}

constexpr auto kFaults = std::to_array<FaultInfo>({
    peer_fault(kFaultPeerOwnMemory, "peer_own_memory",
               "address: the tensor map points into this rank's own memory"),
    peer_fault(kFaultPeerTailStale, "peer_tail_stale",
               "visibility: the last 16 bytes of the tensor are seen as they stood before"),
    peer_fault(kFaultPeerAllStale, "peer_all_stale",
               "visibility: the whole allocation is seen as it stood before"),
    peer_fault(kFaultPeerGuardSkipped, "peer_guard_skipped",
               "address: the neighbour's allocation begins where its tensor should"),
});

}  // namespace

std::span<const FaultInfo> peer_tile_faults() { return kFaults; }

}  // namespace tidemark
