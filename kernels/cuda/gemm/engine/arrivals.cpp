// Sorts tiles by when the last of their rows arrives.
#include "kernels/cuda/gemm/engine/arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "kernels/cuda/gemm/raster.hpp"
#include "kernels/error.hpp"

namespace tidemark {
namespace {

/// The shards of one row of tiles, and how many rows of the panel are fetched until all are there.
struct Arrival {
  std::uint16_t first = 0, end = 0;
  std::uint64_t fetched = 0;
};

void require_countable(const ArrivingPanel& panel) {
  if (panel.shards.size() > std::numeric_limits<std::uint16_t>::max())
    throw Error(fmt::format("gemm: a panel of {} shards: the engine waits for at most 65535",
                            panel.shards.size()));
  if (!std::is_sorted(
          panel.shards.begin(), panel.shards.end(),
          [](const Shard& left, const Shard& right) { return left.first_row < right.first_row; }))
    throw Error("gemm: the shards of a panel are not in order of their rows");
}

/// `rows` is how many of both panels are fetched before, and then behind this one.
std::vector<Arrival> arrivals_of(const ArrivingPanel& panel, std::uint32_t rank,
                                 std::uint64_t& rows) {
  require_countable(panel);
  std::vector<std::uint64_t> fetched(panel.shards.size(), 0);
  for (const std::size_t index : fetch_order(panel.shards, rank))
    fetched[index] = rows += panel.shards[index].rows;
  std::vector<Arrival> arrivals(panel.tiles);
  std::size_t first = 0;
  for (std::uint32_t tile = 0; tile < panel.tiles; ++tile) {
    const std::uint64_t begin = std::uint64_t{tile} * panel.tile_rows;
    const std::uint64_t end = begin + panel.tile_rows;
    const auto ends_before = [&](std::size_t i) {
      return panel.shards[i].first_row + panel.shards[i].rows <= begin;
    };
    while (first < panel.shards.size() && ends_before(first)) ++first;
    std::size_t last = first;
    Arrival& arrival = arrivals[tile];
    while (last < panel.shards.size() && panel.shards[last].first_row < end)
      arrival.fetched = std::max(arrival.fetched, fetched[last++]);
    arrival.first = static_cast<std::uint16_t>(first);
    arrival.end = static_cast<std::uint16_t>(last);
  }
  return arrivals;
}

}  // namespace

std::vector<ArrivingTile> arrival_order(const ArrivingPanel& a, const ArrivingPanel& b,
                                        std::uint32_t rank, std::uint32_t group, bool at_once) {
  std::uint64_t before = 0;
  const std::vector<Arrival> rows = arrivals_of(a, rank, before);
  if (at_once) before = 0;
  const std::vector<Arrival> columns = arrivals_of(b, rank, before);
  std::vector<std::pair<std::uint64_t, ArrivingTile>> tiles;
  tiles.reserve(std::size_t{a.tiles} * b.tiles);
  for (std::uint32_t index = 0; index < a.tiles * b.tiles; ++index) {
    const TileAt at = tile_at(index, a.tiles, b.tiles, group);
    const Arrival& row = rows[at.m];
    const Arrival& column = columns[at.n];
    tiles.push_back({std::max(row.fetched, column.fetched),
                     {.m = at.m,
                      .n = at.n,
                      .a_first = row.first,
                      .a_end = row.end,
                      .b_first = column.first,
                      .b_end = column.end}});
  }
  // Stable: the raster's order stays among tiles that become ready together.
  std::stable_sort(tiles.begin(), tiles.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  std::vector<ArrivingTile> order;
  order.reserve(tiles.size());
  for (const auto& [fetched, tile] : tiles) order.push_back(tile);
  return order;
}

}  // namespace tidemark
