// A matrix seen as (group, row, column): one copy lays a tile out atom by atom and swizzles each.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

// `groups` groups of `bytes` in a row of the matrix; dimension 2 walks from group to group.
TensorMapSpec grouped(DataType type, std::uint32_t bytes, std::uint64_t groups,
                      std::uint64_t height, std::uint32_t rows, std::uint32_t taken,
                      Swizzle swizzle) {
  const std::uint32_t inner = elements_in(bytes, type);
  TensorMapSpec map = map_of(type, {inner, height, groups}, {inner, rows, taken}, swizzle);
  map.stride[0] = bytes * groups;
  map.stride[1] = bytes;
  return map;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (const Swizzle swizzle : kSwizzles) {
      const std::uint32_t bytes = swizzle_bytes(swizzle);
      const TensorMapSpec from = grouped(type, bytes, 4, 14, 7, 2, swizzle);
      // Back to a matrix of groups one behind the other, so that the destination tells the order.
      const TensorMapSpec to = map_of(type, {elements_in(bytes, type), 14, 4},
                                      {elements_in(bytes, type), 7, 2}, swizzle);
      rows.emplace_back(there_and_back(from, to));
      TileRoundTrip placed = there_and_back(from, to);
      placed.work = TileWork::thread_copy;
      placed.ctas = 2;
      placed.stages = 2;  // the second starts in the middle of a pattern
      rows.emplace_back(placed);
    }
  // The 16 x 16 tile of 16-byte pieces in two groups of 16 x 8, which fill a row of 128 bytes each.
  const TensorMapSpec split = grouped(DataType::bf16, 128, 2, 16, 16, 2, Swizzle::b128);
  rows.emplace_back(
      there_and_back(split, map_of(DataType::bf16, {64, 16, 2}, {64, 16, 2}, Swizzle::b128)));
  return rows;
}

const Register kCase{{
    .name = "scenario.tirx.atoms",
    .claim =
        "one three-dimensional copy lays a tile out group by group, each row of a group as wide "
        "as the swizzle, with the swizzle inside",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode and 5.5.7 swizzling modes; TIRx book, 3D TMA for "
             "Tiling and Swizzling",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
