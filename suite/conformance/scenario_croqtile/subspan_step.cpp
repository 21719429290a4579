// Tiles that stand further apart than they are wide, and tiles that overlap.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::f16, DataType::f32})
    for (const std::int32_t step_x : {16, 32, 8})
      for (const std::int32_t step_y : {16, 32, 8, 3}) {
        const TensorMapSpec matrix = map_of(type, {80, 84}, {16, 16});
        const TensorMapSpec packed = map_of(type, {48, 32}, {16, 16});  // 3 x 2 tiles
        TileRoundTrip trip = there_and_back(packed, packed);
        trip.from = matrix;
        trip.load.step = {step_x, step_y};
        if (step_y == 32) trip.ctas = 1;
        if (step_y == 3) {
          trip.ctas = 2;
          trip.stages = 3;
        }
        rows.emplace_back(trip);
      }
  return rows;
}

const Register kCase{{
    .name = "scenario.croqtile.subspan_step",
    .claim = "tiles loaded at steps larger or smaller than themselves hold what stands there, the "
             "overlap in each of those that share it",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode; Croqtile manual, Strided tiles: .subspan, .step, and "
             ".at",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
