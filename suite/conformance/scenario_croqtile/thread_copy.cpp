// Threads that place a tile by the swizzle formula and the copy engine give the same layout.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      const std::uint32_t bytes = swizzle == Swizzle::none ? 96 : swizzle_bytes(swizzle);
      const std::uint32_t inner = elements_in(bytes, type), height = 1024 / bytes + 3;
      const TensorMapSpec map = map_of(type, {2 * inner, 2 * height - 1}, {inner, height}, swizzle);
      TileRoundTrip trip = there_and_back(map, map);
      trip.work = TileWork::thread_copy;
      rows.emplace_back(trip);
      trip.ctas = 1;
      trip.stages = 3;  // an odd number of 128-byte rows a stage: another phase in each
      rows.emplace_back(trip);
    }
  return rows;
}

const Register kCase{{
    .name = "scenario.croqtile.thread_copy",
    .claim =
        "a tile that threads place by the exclusive-or of address bits and one that the engine "
        "swizzles are the same bytes, and the store reads either",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; Croqtile manual, Advanced Data Movement, Swizzle "
             "and bank conflicts",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
