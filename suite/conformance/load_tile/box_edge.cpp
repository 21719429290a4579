// Boxes at the limits of their size: 256 in one dimension, 1 in all but the first, and larger than
// the tensor.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// 16 bytes wide and two high everywhere but along `dimension`.
TileLoad long_in(DataType type, std::uint32_t rank, std::uint32_t dimension, std::uint32_t box) {
  const std::uint32_t inner = elements_in(16, type);
  std::vector<std::uint64_t> extent{3 * inner, 5, 3, 3, 2};
  std::vector<std::uint32_t> boxes{inner, 2, 1, 1, 1};
  extent.resize(rank);
  boxes.resize(rank);
  extent[dimension] = box + 2 * elements_in(16, type);
  boxes[dimension] = box;
  return tile(type, extent, boxes);
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::u32})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      TileLoad one_row = tile_of_rank(type, rank);
      one_row.map.box = {elements_in(64, type), 1, 1, 1, 1};
      rows.emplace_back(one_row);
      for (std::uint32_t dimension = 0; dimension < rank; ++dimension) {
        rows.emplace_back(long_in(type, rank, dimension, 256));
        TileLoad larger = tile_of_rank(type, rank);  // than the tensor, along one dimension
        larger.map.box[dimension] =
            static_cast<std::uint32_t>(larger.map.extent[dimension]) + elements_in(16, type);
        larger.at[dimension] = 0;
        rows.emplace_back(larger);
      }
    }
  return rows;
}

const Register kCase{{
    .name = "load.tile.box_edge",
    .claim = "a box of 256 in any dimension, of 1 in all outer ones, or larger than the tensor "
             "is loaded whole",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, boxDim",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
