// Strides longer than the rows they step over, in one dimension and in all.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

// Each dimension of `padded` (bit i: dimension i) begins its next index `padding` bytes later.
TileStore padded_store(std::uint32_t rank, std::uint32_t padded, std::uint64_t padding) {
  TileLoad box = tile_of_rank(DataType::u32, rank);
  std::uint64_t stride = box.map.extent[0] * element_bytes(DataType::u32);
  for (std::uint32_t i = 1; i < rank; ++i) {
    if ((padded >> i & 1U) != 0) stride += padding;
    box.map.stride[i - 1] = stride;
    stride *= box.map.extent[i];
  }
  return store_of(box);
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 2; rank <= kMaxRank; ++rank)
    for (std::uint32_t padded = 2; padded < 1U << rank; padded += 2)  // dimension 0 has no stride
      for (const std::uint64_t padding : {16U, 32U, 208U})
        rows.emplace_back(padded_store(rank, padded, padding));
  return rows;
}

const Register kCase{{
    .name = "store.tile.padded_stride",
    .claim = "each outer coordinate advances by exactly the stride given in bytes, and stores "
             "leave alone what lies between rows",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalStrides",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
