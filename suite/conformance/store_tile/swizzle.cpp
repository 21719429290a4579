// Every swizzle at every phase of the source address, for each element size, over more than one
// whole pattern; and without a swizzle from the same sources.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

// Box rows of exactly `bytes`, 1200 bytes or more in all, with one more dimension where `deep`.
TileLoad swizzled(DataType type, std::uint32_t bytes, bool deep) {
  const std::uint32_t inner = elements_in(bytes, type);
  const std::uint32_t height = 1200 / bytes + 1;
  if (!deep) return tile(type, {3 * inner, height + 3}, {inner, height}, {0, 2});
  return tile(type, {3 * inner, 9, 16}, {inner, 7, height / 7 + 1}, {0, 1, 2});
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (std::uint32_t phase = 0; phase < 8; ++phase)
      for (const DataType type : kTypeOfEachSize) {
        const std::uint32_t bytes = swizzle == Swizzle::none ? 96 : swizzle_bytes(swizzle);
        TileLoad box = swizzled(type, bytes, phase % 2 == 0);
        box.at[0] = static_cast<std::int32_t>(elements_in(bytes, type));
        box.map.swizzle = swizzle;
        box.destination_offset = 128 * phase;
        rows.emplace_back(store_of(box));
      }
  return rows;
}

const Register kCase{{
    .name = "store.tile.swizzle",
    .claim = "16-byte chunks are taken from where the swizzle tables put them for the absolute "
             "shared address, whatever its phase within 1024 bytes",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; CUDA C++ Programming Guide, 10.29.3.2",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
