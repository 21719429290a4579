// Every swizzle at every phase of the destination address, for each element size, over more than
// one whole pattern; and without a swizzle at the same destinations.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// `rows` rows of exactly `bytes` each, with one more dimension where `deep`.
TileLoad swizzled(DataType type, Swizzle swizzle, std::uint32_t bytes, bool deep) {
  const std::uint32_t inner = elements_in(bytes, type);
  const std::uint32_t height = 2048 / bytes + 3;
  TileLoad load = deep ? tile(type, {3 * inner, 13, 11}, {inner, 9, height / 9 + 1}, {0, 3, 2})
                       : tile(type, {3 * inner, height + 2}, {inner, height}, {0, 1});
  load.at[0] = static_cast<std::int32_t>(inner);
  load.map.swizzle = swizzle;
  return load;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (std::uint32_t phase = 0; phase < 8; ++phase)
      for (const DataType type : kTypeOfEachSize) {
        const std::uint32_t bytes = swizzle == Swizzle::none ? 96 : swizzle_bytes(swizzle);
        TileLoad load = swizzled(type, swizzle, bytes, phase % 2 == 1);
        load.destination_offset = 128 * phase;
        rows.emplace_back(load);
      }
  return rows;
}

const Register kCase{{
    .name = "load.tile.swizzle",
    .claim = "16-byte chunks stand where the swizzle tables put them for the absolute shared "
             "address, whatever its phase within 1024 bytes",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; CUDA C++ Programming Guide, 10.29.3.2",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
