// Keeps the ranks in step: nobody opens memory before it is filled, and nobody fills or frees his
// before all have closed it.
#include "kernels/cuda/peer_tile.hpp"

#include <fmt/core.h>

#include <cstring>
#include <vector>

#include "kernels/cuda/check.hpp"
#include "kernels/cuda/peer_memory.hpp"
#include "kernels/cuda/program/program.hpp"
#include "kernels/cuda/program/program_kernel.hpp"
#include "kernels/cuda/transport/gather.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kPanelOffers = 3;
constexpr std::uint32_t kPanelDone = 4;

void require_sound(const PeerTile& op) {
  if (op.rank >= op.ranks)
    throw Error(fmt::format("peer tile: rank {} of {} does not exist", op.rank, op.ranks));
  if (op.transport == nullptr)
    throw Error("peer tile: without a transport the ranks cannot find each other's memory");
}

void wait_bounded_for(RowWorkspace& rows, const char* what) {
  if (!wait_for_launch(rows)) throw Error(fmt::format("{}: {}", what, hung_note()));
}

/// Every rank's offer to every rank. Empty, with the reason in `late`, where one did not come.
std::vector<PeerOffer> exchange(RowWorkspace& rows, PeerWorkspace& peers, const PeerTile& op,
                                const PeerOffer& mine, NamedPanel panel, std::string& late) {
  const std::size_t bytes = op.ranks * sizeof(PeerOffer);
  grow(peers.panel, bytes);
  grow(peers.host, bytes);
  std::memcpy(peers.host.data(), &mine, sizeof(mine));
  cuda_check(cudaMemcpyAsync(peers.panel.data() + op.rank * sizeof(mine), peers.host.data(),
                             sizeof(mine), cudaMemcpyHostToDevice, rows.stream.get()),
             "put the offer into the panel");
  wait_bounded_for(rows, "put the offer into the panel");
  panel.buffer.base = peers.panel.data();
  panel.buffer.row_bytes = sizeof(PeerOffer);
  for (std::uint32_t rank = 0; rank < op.ranks; ++rank)
    panel.buffer.shards.push_back({rank, rank, 1});
  late = gather_or_abort(*op.transport, {&panel, 1}, op.rank, op.deadline_s);
  if (!late.empty()) return {};
  cuda_check(cudaMemcpyAsync(peers.host.data(), peers.panel.data(), bytes, cudaMemcpyDeviceToHost,
                             rows.stream.get()),
             "read the offers");
  wait_bounded_for(rows, "read the offers");
  std::vector<PeerOffer> offers(op.ranks);
  std::memcpy(offers.data(), peers.host.data(), bytes);
  return offers;
}

void fill_own(RowWorkspace& rows, PeerWorkspace& peers, const PeerTile& op) {
  grow_for_peers(peers.offered, peer_allocation_bytes(op));
  launch_fill_region({.memory = reinterpret_cast<std::uint8_t*>(peers.offered.data()),
                      .bytes = peer_allocation_bytes(op),
                      .element = op.map.type,
                      .poison = op.way == PeerWay::store,
                      .payload = rank_payload(op, op.rank)},
                     rows.stream.get());
  wait_bounded_for(rows, "fill the memory for the neighbour");
}

/// Step 3, on the neighbour's memory.
RunResult copy(RowWorkspace& rows, const PeerTile& op, std::byte* neighbours) {
  return run_peer_program(rows, peer_program(op), neighbours);
}

/// Step 5: the whole allocation, guards included.
std::vector<std::uint8_t> read_own(RowWorkspace& rows, PeerWorkspace& peers, const PeerTile& op) {
  const std::size_t bytes = peer_allocation_bytes(op);
  grow(peers.host, bytes);
  cuda_check(cudaMemcpyAsync(peers.host.data(), peers.offered.data(), bytes, cudaMemcpyDeviceToHost,
                             rows.stream.get()),
             "read the own memory back");
  wait_bounded_for(rows, "read the own memory back");
  const auto* const first = peers.host.as<std::uint8_t>();
  return {first, first + bytes};
}

void end_with(RunResult& result, DeviceFault fault, std::string note) {
  result = RunResult{};
  result.fault = fault;
  result.note = std::move(note);
}

bool is_lost(const RunResult& result) {
  return result.fault == DeviceFault::sticky ||
         (result.fault == DeviceFault::timeout && result.bytes.empty() &&
          result.surroundings.empty());
}

void run_row(RowWorkspace& rows, PeerWorkspace& peers, const PeerTile& op, RunResult& result) {
  require_sound(op);
  fill_own(rows, peers, op);
  const PeerOffer mine = offer_of(peers.offered.data(), op.seed, peers.offered.size());
  std::string late;
  const NamedPanel offering{{.id = kPanelOffers, .shards = {}}, "the neighbours' handles"};
  const std::vector<PeerOffer> offers = exchange(rows, peers, op, mine, offering, late);
  if (!late.empty()) return end_with(result, DeviceFault::others_late, late);

  const std::uint32_t next = next_rank(op);
  std::string cannot = cannot_open(mine, offers[next], next);
  {
    PeerMapping neighbours;
    if (cannot.empty()) cannot = neighbours.open(offers[next], next);
    if (cannot.empty()) result = copy(rows, op, neighbours.data());
    if (is_lost(result)) return neighbours.abandon();  // this process is spent; the others will see
  }
  PeerOffer done = mine;
  done.stored = cannot.empty() && result.fault == DeviceFault::none ? 1 : 0;
  const NamedPanel leaving{{.id = kPanelDone, .shards = {}}, "the end of the neighbours' copies"};
  const std::vector<PeerOffer> all_done = exchange(rows, peers, op, done, leaving, late);
  if (!late.empty()) return end_with(result, DeviceFault::others_late, late);
  if (!cannot.empty()) return end_with(result, DeviceFault::unsupported, cannot);
  const std::uint32_t before = previous_rank(op);
  if (op.way == PeerWay::store && result.fault == DeviceFault::none && all_done[before].stored == 0)
    return end_with(result, DeviceFault::unsupported,
                    fmt::format("rank {}, which should have stored here, did not store", before));
  result.surroundings = read_own(rows, peers, op);
}

}  // namespace

RunResult run_peer_tile(RowWorkspace& rows, PeerWorkspace& peers, const PeerTile& op) {
  RunResult result;
  if (op.ranks < 2) {
    end_with(result, DeviceFault::unsupported,
             "one GPU alone has no neighbour: start two ranks or more");
    return result;
  }
  catch_sticky(result, [&] { run_row(rows, peers, op, result); });
  return result;
}

}  // namespace tidemark
