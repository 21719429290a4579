// The rows of an expert begin and end anywhere among those of the others, and a box of fixed height
// covers rows of the next one as well.
#include <utility>

#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint64_t kTokens = 120, kWidth = 128;  // rows and columns of all experts
constexpr std::uint32_t kHeight = 16;                 // of a box

// The boxes of `rows` rows from `first` on, by coordinates among all: the last one holds what the
// next expert has there.
TileRoundTrip by_coordinates(const TensorMapSpec& tokens, std::uint32_t first, std::uint32_t rows) {
  TileRoundTrip trip = there_and_back(tokens, tokens);
  for (TileWalk* walk : {&trip.load, &trip.store}) {
    walk->at[1] = static_cast<std::int32_t>(first);
    walk->tiles[1] = (rows + kHeight - 1) / kHeight;
  }
  trip.ctas = 1;
  trip.stages = 2;
  return trip;
}

// The same rows by a map that ends where they do.
void confine(TensorMapSpec& map, TileWalk& walk, std::uint32_t first, std::uint32_t rows) {
  map.base_offset = first * static_cast<std::uint32_t>(map.stride[0]);
  map.extent[1] = rows;
  walk.at[1] = 0;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::f16, DataType::f32})
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b128})
      for (const auto& [first, height] :
           {std::pair{0U, 5U}, std::pair{5U, 37U}, std::pair{42U, 16U}, std::pair{58U, 1U}}) {
        const TensorMapSpec tokens =
            map_of(type, {kWidth, kTokens}, {128 / element_bytes(type), kHeight}, swizzle);
        TileRoundTrip trip = by_coordinates(tokens, first, height);
        rows.emplace_back(trip);
        confine(trip.to, trip.store, first, height);  // the store is cut, the load is not
        rows.emplace_back(trip);
        confine(trip.from, trip.load, first, height);
        rows.emplace_back(trip);
      }
  return rows;
}

const Register kCase{{
    .name = "scenario.croqtile.ragged_overlap",
    .claim =
        "a box that reaches into the rows of the next expert brings them as they are, or zeros "
        "where a map of its own ends before them, and a store by such a map leaves them alone",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode and 5.5.3.3 out-of-bounds access; Croqtile manual, "
             "Arbitrary-offset windows: view and from",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
