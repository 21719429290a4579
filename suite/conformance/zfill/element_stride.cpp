// Element strides whose steps begin before the tensor, leave it within the box, or jump over all
// of it.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t step = 2; step <= 8; ++step)
    for (const auto& [extent, at] : {std::pair{19, -3}, {19, 9}, {5, -7}, {3, 0}, {3, -13}})
      for (const std::uint32_t dimension : {1U, 2U}) {
        TileLoad load = tile(DataType::u32, {28, 7, 7}, {12, 3, 3}, {4, 2, 2});
        load.map.extent[dimension] = static_cast<std::uint64_t>(extent);
        load.map.stride[1] = load.map.stride[0] * load.map.extent[1];
        load.map.box[dimension] = 21;
        load.at[dimension] = at;
        load.map.element_stride[dimension] = step;
        load.map.element_stride[3 - dimension] = dimension;  // 1 or 2
        load.map.element_stride[0] = dimension;              // ignored: the map is not interleaved
        rows.emplace_back(load);
      }
  return rows;
}

const Register kCase{{
    .name = "zfill.element_stride",
    .claim = "with an element stride each element taken is tested by its own coordinate, not by "
             "the end of the box",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, elementStrides; PTX ISA 9.0, 5.5.3.2 and "
             "5.5.3.3",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
