// The tile of 16 rows by 16 chunks of 16 bytes, which a swizzle frees of bank conflicts only in
// groups as wide as its atom: 16 x 8 chunks at 128 bytes, 16 x 4 at 64, 16 x 2 at 32.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (const DataType type : kTypeOfEachSize)
      for (const std::int32_t first_row : {0, 5})
        for (const std::uint32_t phase : {0U, 1U, 4U, 7U}) {
          const std::uint32_t groups = 256 / swizzle_bytes(swizzle);
          const GroupedMatrix matrix{
              .type = type, .swizzle = swizzle, .rows = 23, .groups = groups + 1, .padding = 32};
          TileLoad load = atoms(matrix, 16, groups, first_row, first_row == 0 ? 0 : 1);
          load.destination_offset = 128 * phase;
          rows.emplace_back(load);
        }
  return rows;
}

const Register kCase{{
    .name = "load.atom3d.sixteen",
    .claim = "a tile of 16 rows of 256 bytes arrives as groups one atom wide, 16 rows each, its "
             "chunks where the swizzle puts them for the address",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; CUDA C++ Programming Guide 13.1, 10.29.3.2",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
