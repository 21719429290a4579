// Swizzled boxes over the far end of each dimension and of all, and ones of fewer rows than one
// pattern has.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (const DataType type : {DataType::u8, DataType::bf16, DataType::f32, DataType::f64})
      for (std::uint32_t dimensions = 1; dimensions < 8; ++dimensions) {
        const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
        TileLoad box = tile(type, {2 * inner, 9, 4}, {inner, 1 + dimensions, 2}, {0, 1, 1});
        for (std::uint32_t i = 0; i < 3; ++i)
          if ((dimensions >> i & 1U) != 0) box.at[i] = highest_inside(box, i) + step_of(box, i);
        box.map.swizzle = swizzle;
        box.destination_offset = 128 * dimensions;
        rows.emplace_back(store_of(box));
      }
  return rows;
}

const Register kCase{{
    .name = "store.tile.swizzle_overhang",
    .claim = "what a swizzled box has outside the tensor is dropped by its place in the box, not "
             "by its place in shared memory",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access and 5.5.7 swizzling modes",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
