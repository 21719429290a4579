// Coordinates count elements, not boxes, and dimensions are given fastest first: the article has
// both the other way round.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (const std::int32_t x : {1, 2, 3})
      for (const std::int32_t y : {1, 5}) {
        // Four times as wide as high: taken as rows and columns, most of it would be missing. A
        // coordinate in boxes would reach far beyond these.
        const std::uint32_t inner = elements_in(64, type);
        rows.emplace_back(tile(type, {4 * inner, 16}, {inner, 4}, {x * inner_step(type), y}));
      }
  return rows;
}

const Register kCase{{
    .name = "scenario.cuda_oxide.coordinates",
    .claim = "the coordinates of a copy count elements of the tensor, not boxes, with the fastest "
             "dimension first",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 tensorCoords; CUDA Driver API, cuTensorMapEncodeTiled; "
             "cuda-oxide book, Global-to-shared copies",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
