// Reductions from swizzled tiles, for both element sizes, at every phase of the source address.
#include "suite/case.hpp"
#include "suite/conformance/reduce.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (std::uint32_t phase = 0; phase < 8; ++phase)
      for (const DataType type : {DataType::u32, DataType::u64}) {
        const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
        TileLoad box = tile(type, {3 * inner, 21}, {inner, 18}, {0, 2});
        box.map.swizzle = swizzle;
        box.destination_offset = 128 * phase;
        TileStore store = store_of(box);
        store.reduction = phase % 2 == 0 ? Reduction::add : Reduction::bit_xor;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kCase{{
    .name = "reduce.tile.swizzle",
    .claim = "a reduction takes its 16-byte chunks from where the swizzle tables put them for the "
             "absolute shared address",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.3 cp.reduce.async.bulk.tensor; 5.5.7 swizzling modes",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
