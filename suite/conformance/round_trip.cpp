// Maps and walks for round trips.
#include "suite/conformance/round_trip.hpp"

#include <algorithm>

namespace tidemark {

TensorMapSpec map_of(DataType type, const std::vector<std::uint64_t>& extent,
                     const std::vector<std::uint32_t>& box, Swizzle swizzle) {
  TensorMapSpec map = tile(type, extent, box).map;
  map.swizzle = swizzle;
  return map;
}

TileWalk cover(const TensorMapSpec& map) {
  TileWalk walk;
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    walk.step[i] = static_cast<std::int32_t>(map.box[i]);
    walk.tiles[i] = static_cast<std::uint32_t>((map.extent[i] + map.box[i] - 1) / map.box[i]);
  }
  return walk;
}

TileRoundTrip there_and_back(const TensorMapSpec& from, const TensorMapSpec& to) {
  TileRoundTrip trip{
      .from = from, .to = to, .load = cover(from), .store = cover(to), .payload = {}};
  trip.ctas = std::min(tiles_of(trip.load), kTripCtas);
  return trip;
}

TileRoundTrip in_place(const TensorMapSpec& map) {
  TileRoundTrip trip = there_and_back(map, map);
  trip.in_place = true;
  return trip;
}

}  // namespace tidemark
