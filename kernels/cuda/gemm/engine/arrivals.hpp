// In which order a product takes its tiles while rows of its operands still arrive from other
// ranks, and what each tile waits for. Plain arithmetic: no CUDA header.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/transport.hpp"

namespace tidemark {

/// A tile of a cluster, and the shards of either panel that its rows lie in, own ones included: by
/// index, from `first` up to but not including `end`.
struct ArrivingTile {
  std::uint32_t m = 0, n = 0;
  std::uint16_t a_first = 0, a_end = 0, b_first = 0, b_end = 0;

  bool operator==(const ArrivingTile&) const = default;
};
static_assert(sizeof(ArrivingTile) == 16);

/// The word of a shard that is there from the start: one of this rank's own.
inline constexpr std::uint32_t kOwnShard = 0xffffffff;

/// One operand's panel: shards in order of their rows, as require_cover() has them.
struct ArrivingPanel {
  std::span<const Shard> shards;
  std::uint32_t tile_rows = 0;  // of a cluster's tile
  std::uint32_t tiles = 0;
};

/// Every tile once. Those whose rows are all `rank`'s own come first, then those that the next
/// shards complete, where each panel is fetched in fetch_order(), both `at_once` or B behind A.
/// Among tiles that become ready together the order is that of raster.hpp, in groups of `group`.
/// Throws Error where a panel has more shards than an ArrivingTile can count, or shards that are
/// not in order.
std::vector<ArrivingTile> arrival_order(const ArrivingPanel& a, const ArrivingPanel& b,
                                        std::uint32_t rank, std::uint32_t group, bool at_once);

}  // namespace tidemark
