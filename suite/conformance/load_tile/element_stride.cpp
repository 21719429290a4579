// Boxes that take every second to every eighth element of an outer dimension, alone, in pairs and
// under a swizzle.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

TileLoad strided(std::uint32_t dimension, std::uint32_t step, std::uint32_t box) {
  TileLoad load = tile(DataType::u16, {48, 2, 2, 2, 2}, {24, 1, 1, 1, 1}, {8, 1, 1, 1, 1});
  load.map.extent[dimension] = box + 3;
  load.map.box[dimension] = box;
  load.map.element_stride[dimension] = step;
  for (std::uint32_t i = 1; i < 4; ++i)
    load.map.stride[i] = load.map.stride[i - 1] * load.map.extent[i];
  return load;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t dimension = 1; dimension < kMaxRank; ++dimension)
    for (std::uint32_t step = 2; step <= 8; ++step)
      for (const std::uint32_t box : {2 * step, 3 * step + 1})
        rows.emplace_back(strided(dimension, step, box));
  for (std::uint32_t step = 2; step <= 8; ++step) {
    TileLoad load = tile(DataType::u32, {32, 29, 19}, {32, 26, 13}, {0, 2, 3});
    load.map.element_stride = {1, step, 10 - step, 1, 1};
    rows.emplace_back(load);
    load.map.swizzle = Swizzle::b128;
    load.map.element_stride[0] = step;  // ignored: the map is not interleaved
    rows.emplace_back(load);
  }
  return rows;
}

const Register kCase{{
    .name = "load.tile.element_stride",
    .claim = "an element stride s takes ceil(box / s) elements along its dimension, s apart, and "
             "credits only those",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, elementStrides; PTX ISA 9.0, 5.5.3.2",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
