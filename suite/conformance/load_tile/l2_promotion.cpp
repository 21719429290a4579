// The same boxes under every promotion of the L2 fetch.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const auto promotion :
       {L2Promotion::none, L2Promotion::b64, L2Promotion::b128, L2Promotion::b256})
    for (const DataType type : kTypeOfEachSize)
      for (const std::uint32_t rank : {2U, 3U}) {
        TileLoad load = tile_of_rank(type, rank);
        load.map.l2_promotion = promotion;
        rows.emplace_back(load);
        rows.emplace_back(in_corner(load, (1U << rank) - 1, 1));
      }
  return rows;
}

const Register kCase{{
    .name = "load.tile.l2_promotion",
    .claim = "the L2 promotion is a hint: it changes no byte and no credit",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, l2Promotion",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
