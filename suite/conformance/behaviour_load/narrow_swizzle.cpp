// Boxes whose rows are narrower than the swizzle. The encoder takes them; how their rows lie in
// shared memory, and what is credited, no document says.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (const Swizzle swizzle : kSwizzles)
      for (std::uint32_t inner = 16; inner < swizzle_bytes(swizzle); inner += 16)
        for (const std::uint32_t offset : {0U, 384U}) {
          TileLoad load = tile_of_rank(type, 3);
          load.map.box = {elements_in(inner, type), 4, 3};
          load.map.swizzle = swizzle;
          load.destination_offset = offset;
          load.held_to = HeldTo::measurement;
          rows.emplace_back(load);
          load.at = {inner_step(type) * 10, -2, 3};  // outside on three sides
          rows.emplace_back(load);
        }
  return rows;
}

const Register kCase{{
    .name = "behaviour.load.narrow_swizzle",
    .claim = "rows of a box that are narrower than the swizzle lie one swizzle width apart, each "
             "swizzled as if it were whole; the gaps behind them are left alone and not credited",
    .cites = "measured on an H200, driver 580.159.04, 2026-11, u8, bf16 and u32, every width below "
             "32, 64 and 128 bytes; no document says how such rows lie",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
