// A tile load from, or a tile store to, the memory of another GPU of the same host.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/program/program.hpp"
#include "kernels/ops/tile_load.hpp"
#include "kernels/ops/tile_store.hpp"
#include "kernels/transport.hpp"

namespace tidemark {

/// Which way the tile goes.
enum class PeerWay : std::uint8_t { load, store };

/// Ranks 0 to ranks - 1 stand in a ring; the neighbour of a rank is the next one. All of them, in
/// step,
///   1. fill an allocation of their own: for loads with the source bytes of peer_load(op, rank),
///      for stores with poison;
///   2. tell each other by `transport` where it is (panel id 3), and open the neighbour's;
///   3. run peer_program() by a tensor map that points into the neighbour's allocation;
///   4. let go of it and wait until every rank has (panel id 4): none frees or fills its memory
///      again before;
///   5. read their own allocation back.
/// The result is that of peer_program(op), with this rank's own allocation as surroundings: what it
/// filled, and for stores what the rank before it stored there.
/// Unsupported, with the reason in the note: fewer than two ranks, a neighbour on another host, a
/// GPU that has no access to the other; for stores also where the rank before had none. A rank that
/// does not come within `deadline_s` is others_late. Throws Error where the ranks are not at the
/// same row. Without a transport the virtual device plays the other ranks, and a GPU refuses.
struct PeerTile {
  TensorMapSpec map{};
  std::array<std::int32_t, kMaxRank> at{};
  std::uint32_t shared_offset = 0;  // bytes behind the leading guard, a multiple of 128
  PeerWay way = PeerWay::load;
  CacheHint hint = CacheHint::none;
  bool inverted = false;   // of all payloads: a row runs once, so that all ranks stay in step
  std::uint64_t seed = 0;  // the same on all ranks
  std::uint32_t rank = 0, ranks = 1;
  Transport* transport = nullptr;
  double deadline_s = 20;  // of each wait for the other ranks
};

constexpr std::uint32_t next_rank(const PeerTile& op) { return (op.rank + 1) % op.ranks; }
constexpr std::uint32_t previous_rank(const PeerTile& op) {
  return (op.rank + op.ranks - 1) % op.ranks;
}

/// What rank `rank` writes: no two ranks have a byte in common but by chance.
constexpr Payload rank_payload(const PeerTile& op, std::uint32_t rank) {
  return {.seed = splitmix64(op.seed + rank + 1), .inverted = op.inverted};
}

/// The load of the box from memory that rank `owner` filled.
constexpr TileLoad peer_load(const PeerTile& op, std::uint32_t owner) {
  return {.map = op.map,
          .at = op.at,
          .destination_offset = op.shared_offset,
          .hint = op.hint,
          .payload = rank_payload(op, owner)};
}

/// The store of the box by rank `writer`.
constexpr TileStore peer_store(const PeerTile& op, std::uint32_t writer) {
  return {.map = op.map,
          .at = op.at,
          .source_offset = op.shared_offset,
          .hint = op.hint,
          .payload = rank_payload(op, writer)};
}

/// Step 3: peer_load() of the next rank's memory, or peer_store() into it, with the checks of every
/// program.
Program peer_program(const PeerTile& op);

/// Bytes of the allocation that each rank offers.
constexpr std::uint64_t peer_allocation_bytes(const PeerTile& op) {
  return op.way == PeerWay::load ? source_allocation_bytes(peer_load(op, op.rank))
                                 : destination_allocation_bytes(peer_store(op, op.rank));
}

}  // namespace tidemark
