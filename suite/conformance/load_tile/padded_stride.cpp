// Strides longer than the rows they step over, in one dimension and in all.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// Pads dimension `padded` by `padding` bytes, or each dimension where `padded` is the rank.
TileLoad with_padding(TileLoad load, std::uint32_t padded, std::uint64_t padding) {
  const std::uint32_t rank = load.map.rank;
  for (std::uint32_t i = 1; i < rank; ++i) {
    if (i > 1) load.map.stride[i - 1] = load.map.stride[i - 2] * load.map.extent[i - 1];
    if (padded == i || padded == rank) load.map.stride[i - 1] += padding;
  }
  return load;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 2; rank <= kMaxRank; ++rank)
    for (std::uint32_t padded = rank == 2 ? 2 : 1; padded <= rank; ++padded)  // 2 has one stride
      for (const std::uint64_t padding : {16U, 32U, 208U})
        rows.emplace_back(with_padding(tile_of_rank(DataType::u32, rank), padded, padding));
  return rows;
}

const Register kCase{{
    .name = "load.tile.padded_stride",
    .claim = "each outer coordinate advances by exactly the stride given in bytes",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalStrides",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
