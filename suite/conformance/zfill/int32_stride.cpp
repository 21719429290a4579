// Element strides at the ends of 32 bits: boxes whose later elements are past them, and boxes that
// land inside the tensor if a product or a sum loses its upper bits.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  constexpr std::int32_t kLast = 0x7fffffff, kFirst = -kLast - 1;
  std::vector<Op> rows;
  for (std::uint32_t step = 2; step <= 8; ++step)
    for (const std::uint32_t rank : {2U, 3U, 5U})
      for (std::uint32_t i = 1; i < rank; ++i) {
        // Quick runs take every third pair of stride and dimension, nightly ones all.
        if (context.level == Level::quick && (step + rank + i) % 3 != 0) continue;
        const DataType type = kTypeOfEachSize[(step + i) % 4];
        TileLoad load = tile_of_rank(type, rank);
        load.map.box[i] = 8 * step;  // eight elements: the last is 7 steps behind the first
        load.map.element_stride[i] = step;
        const auto reach = static_cast<std::int32_t>(7 * step);
        // The last element on, before and past 2^31 - 1; the first of all; 2^28 and 2^30 times a
        // stride of 2, 4 or 8 are 0 in 32 bits.
        for (const std::int32_t to : {kLast - reach, kLast - reach + 1, kLast, kFirst, 1 << 28,
                                      step % 2 == 0 ? 1 << 30 : -(1 << 30)}) {
          load.at[i] = to;
          rows.emplace_back(load);
        }
      }
  // Every place of the box before the tensor but its last element or two, which are inside.
  for (std::uint32_t step = 2; step <= 8; ++step) {
    TileLoad load = tile_of_rank(DataType::f32, 2);
    load.map.box[1] = 8 * step;
    load.map.element_stride[1] = step;
    load.at[1] = -static_cast<std::int32_t>(7 * step);
    rows.emplace_back(load);
  }
  return rows;
}

const Register kCase{{
    .name = "zfill.int32_stride",
    .claim = "an element stride is stepped in more than 32 bits: a box near either limit of int32 "
             "is fill, and no step leads back into the tensor",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, elementStrides; PTX ISA 9.0, 5.5.3.3",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
