// Load and store that disagree about the swizzle: the hardware does to each what it was asked.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

// Tiles of 2048 bytes in rows as wide as `swizzle` asks; without one, as wide as `other` asks.
TensorMapSpec rows_of(DataType type, Swizzle swizzle, Swizzle other) {
  const std::uint32_t bytes = swizzle_bytes(swizzle == Swizzle::none ? other : swizzle);
  const std::uint32_t inner = elements_in(bytes, type), height = 2048 / bytes;
  return map_of(type, {inner, 3 * height}, {inner, height}, swizzle);
}

std::vector<Op> rows(const RunContext&) {
  constexpr std::array kAll{Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128};
  std::vector<Op> rows;
  for (const DataType type : {DataType::bf16, DataType::u8})
    for (const Swizzle load : kAll)
      for (const Swizzle store : kAll) {
        if (load == store) continue;
        TileRoundTrip trip = there_and_back(rows_of(type, load, store), rows_of(type, store, load));
        trip.stages = 2;
        trip.ctas = 2;
        rows.emplace_back(trip);
      }
  return rows;
}

const Register kCase{{
    .name = "scenario.tirx.disagreement",
    .claim =
        "a tile that is loaded with one swizzle and stored with another comes back in the order "
        "that the two tables give one after the other",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; TIRx book, Swizzled Layouts",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
