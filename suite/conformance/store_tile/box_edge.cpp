// Boxes at the limits of their size: 256 in one dimension, 1 in all but the first, and larger than
// the tensor.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

// 16 bytes wide, one high everywhere but 256 along `dimension`, in a tensor that `spare` more fit.
TileLoad longest(DataType type, std::uint32_t rank, std::uint32_t dimension, std::uint32_t spare) {
  const std::uint32_t inner = elements_in(16, type);
  std::vector<std::uint64_t> extent{2 * inner, 2, 2, 2, 2};
  std::vector<std::uint32_t> box{inner, 1, 1, 1, 1};
  extent.resize(rank);
  box.resize(rank);
  extent[dimension] = 256 + spare * (dimension == 0 ? inner : 1);
  box[dimension] = 256;
  return tile(type, extent, box);
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::u32})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      TileLoad one_row = tile_of_rank(type, rank);
      one_row.map.box = {elements_in(64, type), 1, 1, 1, 1};
      rows.emplace_back(store_of(one_row));
      for (std::uint32_t dimension = 0; dimension < rank; ++dimension) {
        rows.emplace_back(store_of(longest(type, rank, dimension, 3)));
        TileLoad larger = tile_of_rank(type, rank);  // than the tensor, along one dimension
        larger.map.box[dimension] =
            static_cast<std::uint32_t>(larger.map.extent[dimension]) + elements_in(16, type);
        larger.at[dimension] = 0;
        rows.emplace_back(store_of(larger));
      }
    }
  return rows;
}

const Register kCase{{
    .name = "store.tile.box_edge",
    .claim = "a box of 256 in any dimension, of 1 in all outer ones, or larger than the tensor "
             "is stored as far as the tensor goes",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, boxDim; PTX ISA 9.0, 5.5.3.3",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
