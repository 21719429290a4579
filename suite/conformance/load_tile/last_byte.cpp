// Tensors that end with the last mapped byte: boxes that reach it and boxes that hang over it,
// under every promotion of the L2 fetch, which reads more than the box.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// Ends on 16 bytes, with its last element at the edge.
TileLoad at_edge(DataType type, std::uint32_t rank, L2Promotion promotion) {
  TileLoad load = tile_of_rank(type, rank);
  const std::uint32_t chunk = elements_in(16, type);
  load.map.extent[0] = (load.map.extent[0] + chunk - 1) / chunk * chunk;
  load.map.l2_promotion = promotion;
  load.source = MemorySource::edge;
  return load;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const auto promotion :
       {L2Promotion::none, L2Promotion::b64, L2Promotion::b128, L2Promotion::b256})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : kTypeOfEachSize) {
        const TileLoad load = at_edge(type, rank, promotion);
        const std::uint32_t all = (1U << rank) - 1;
        rows.emplace_back(in_corner(load, all, 0));  // ends with the tensor
        rows.emplace_back(in_corner(load, all, 1));
        if (rank > 1) rows.emplace_back(in_corner(load, 1U << (rank - 1), 1));
      }
  return rows;
}

const Register kCase{{
    .name = "load.tile.last_byte",
    .claim = "a tensor may end with the last byte that is mapped: what a box hangs over it is "
             "filled, and neither the box nor the promoted fetch touches what is behind",
    .cites =
        "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; CUDA Driver API, cuTensorMapEncodeTiled, "
        "l2Promotion; Virtual Memory Management",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
