// Builds programs whose tensor map the device changes between two copies.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {

/// Boxes that all CTAs of a cluster load, one after the other, by the map at one place of global
/// memory. Before each box but the first, one CTA makes it the map of that box; then each CTA
/// acquires it.
struct MapChange {
  std::vector<TileLoad> boxes;
  bool zeroed = false;    // before the first, too, out of zeros; else the driver encodes that map
  bool apart = false;     // each box has memory of its own
  bool stores = false;    // to the last box, instead of its load. In one CTA
  bool in_place = false;  // fields are replaced in global memory, but those of zeros
  Scope scope = Scope::gpu;  // not cta between several CTAs
  std::uint32_t ctas = 1;
  std::uint32_t changer = 0;  // CTA that changes the map of box 0; the next CTA that of box 1 ...
  std::uint16_t thread = 0;   // of that CTA
};

Program program_of(const MapChange& change);

/// Maps of `rank` that become maps in which one entry of one field is another, or the rank is. Each
/// is loaded by; those that have no element stride and no NaN fill are stored by, too.
std::vector<MapChange> one_field_each(DataType type, std::uint32_t rank);

/// A map of `type` and `rank` whose fields all are others than zero.
TileLoad full_map(DataType type, std::uint32_t rank);

/// `count` boxes whose maps differ by address and extents.
std::vector<TileLoad> generations(DataType type, std::uint32_t rank, std::uint32_t count);

/// Two to four boxes of maps that have nothing in common, in a cluster of 1, 2 or 4; a function of
/// `seed` alone.
MapChange random_change(std::uint64_t seed);

}  // namespace tidemark
