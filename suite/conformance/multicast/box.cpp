// What a tile load can do, done in several blocks at once: types, ranks, swizzles at every phase of
// the destination, element strides.
#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

TileLoad swizzled(DataType type, Swizzle swizzle, std::uint32_t phase) {
  const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), type);
  TileLoad load = phase % 2 == 0 ? tile(type, {3 * inner, 25}, {inner, 17}, {0, 1})
                                 : tile(type, {3 * inner, 7, 9}, {inner, 3, 6}, {0, 2, 1});
  load.at[0] = static_cast<std::int32_t>(inner);
  load.map.swizzle = swizzle;
  load.destination_offset = 128 * phase;
  return load;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  const auto add = [&rows](const TileLoad& load) {
    const auto turn = static_cast<std::uint32_t>(rows.size());
    const std::uint32_t mask = 0xbU << turn % 3 & 0xfU;
    rows.emplace_back(multicast(load, 4, mask, turn % 4));
  };
  for (std::uint32_t type = 0; type < kDataTypes; ++type)
    for (const std::uint32_t rank : {2U, 3U}) add(tile_of_rank(static_cast<DataType>(type), rank));
  for (const std::uint32_t rank : {1U, 4U, 5U})
    for (const DataType type : kTypeOfEachSize) add(tile_of_rank(type, rank));
  for (const Swizzle swizzle : kSwizzles)
    for (std::uint32_t phase = 0; phase < 8; ++phase)
      add(swizzled(kTypeOfEachSize[phase / 2], swizzle, phase));
  for (std::uint32_t step = 2; step <= 8; ++step) {
    TileLoad load = tile(DataType::u16, {40, 37}, {24, 17}, {8, 3});
    load.map.element_stride = {2, step, 1, 1, 1};
    load.map.base_offset = 48;
    add(load);
  }
  return rows;
}

const Register kCase{{
    .name = "multicast.box",
    .claim = "every block of the mask gets the same box, of any type, rank, swizzle and element "
             "stride, as a tile load would have brought it",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.7 swizzling modes",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
