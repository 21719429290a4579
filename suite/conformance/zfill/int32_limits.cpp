// Coordinates at the ends of 32 bits, and ones that land inside the tensor if their upper bits are
// lost.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

TileLoad moved(TileLoad load, std::uint32_t i, std::int32_t to) {
  load.at[i] = to;
  return load;
}

std::vector<Op> rows(const RunContext&) {
  constexpr std::int32_t kLast = 0x7fffffff, kFirst = -kLast - 1;
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::f64})
    for (const std::uint32_t rank : {1U, 2U, 3U, 5U})
      for (std::uint32_t i = 0; i < rank; ++i) {
        const TileLoad load = tile_of_rank(type, rank);
        const std::int32_t step = step_of(load, i);
        const std::int32_t last = kLast - kLast % step;  // dimension 0 stays on 16 bytes
        TileLoad long_box = moved(load, i, last);        // its end is past 2^31
        long_box.map.box[i] = 64;
        if (i > 0) long_box.map.element_stride[i] = 8;
        rows.emplace_back(long_box);
        // The low 8, 16 or 24 bits alone would be a place inside.
        for (const std::int32_t to : {kFirst, kFirst + step, 0x100 + step, 0x10000 + step, -0x10000,
                                      0x1000000, step - 0x1000000})
          rows.emplace_back(moved(load, i, to));
      }
  return rows;
}

const Register kCase{{
    .name = "zfill.int32_limits",
    .claim = "coordinates keep all 32 bits: a box near either limit of int32 does not fall back "
             "into the tensor",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, tensorCoords; 5.5.3.3",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
