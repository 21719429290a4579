// The example of "Use TMA without CUDA": an 8 x 8 matrix of f32, counted through, in 4 x 4 tiles of
// one CTA each, to whose elements their index in the tile is added; then larger and swizzled
// ones.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

TileRoundTrip counted(TileRoundTrip trip) {
  trip.work = TileWork::add_index;
  trip.numbers = Numbers::counting;
  return trip;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  rows.emplace_back(counted(in_place(map_of(DataType::f32, {8, 8}, {4, 4}))));
  for (const DataType type : {DataType::f32, DataType::u32, DataType::s32}) {
    const TensorMapSpec map = map_of(type, {12, 20}, {4, 5});
    rows.emplace_back(counted(in_place(map)));
    rows.emplace_back(counted(there_and_back(map, map)));
    for (const Swizzle swizzle : kSwizzles) {
      const std::uint32_t inner = swizzle_bytes(swizzle) / 4;
      const TensorMapSpec swizzled = map_of(type, {2 * inner, 18}, {inner, 9}, swizzle);
      rows.emplace_back(counted(in_place(swizzled)));
      TileRoundTrip ring = counted(there_and_back(swizzled, swizzled));
      ring.ctas = 1;
      ring.stages = 2;
      rows.emplace_back(ring);
    }
  }
  return rows;
}

const Register kCase{{
    .name = "scenario.mojo.add_index",
    .claim = "tiles that are loaded, changed by all threads, fenced and stored back leave the old "
             "value plus the index in the tile at each element and nothing anywhere else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 and 9.7.13.4 fence.proxy.async; Use TMA "
             "without CUDA, Computation",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
