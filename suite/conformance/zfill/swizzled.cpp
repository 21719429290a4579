// Swizzled boxes over each corner, with zero and NaN fill, at several phases of the destination.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (const DataType type : {DataType::u8, DataType::bf16, DataType::f32, DataType::f64})
      for (std::uint32_t corner = 0; corner < 4; ++corner) {
        const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
        TileLoad load = in_corner(tile(type, {2 * inner + 1, 29}, {inner, 21}), corner, 1);
        // The far end of a row that ends off 16 bytes: back to the last chunk that begins in it.
        load.at[0] -= load.at[0] % inner_step(type);
        load.map.swizzle = swizzle;
        load.map.fill = is_floating(type) && corner % 2 == 0 ? Fill::nan : Fill::zero;
        load.destination_offset = 256 * corner + 128;
        rows.emplace_back(load);
      }
  return rows;
}

const Register kCase{{
    .name = "zfill.swizzled",
    .claim = "what lies outside the tensor is filled before the swizzle moves it: fill and data "
             "both follow the tables",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access and 5.5.7 swizzling modes",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
