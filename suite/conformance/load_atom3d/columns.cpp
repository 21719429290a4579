// A warp reads every column of an atom layout, through each swizzle, by the address formula that a
// kernel would use.
#include "suite/case.hpp"
#include "suite/conformance/atom_read.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (const std::uint32_t height : {8U, 16U, 32U})
      for (const std::uint32_t groups : {2U, 4U}) {
        TileRead read = atom_read(DataType::bf16, swizzle, 128, height, groups);
        read.load.destination_offset = height == 16 ? 384 : 0;
        const std::uint32_t columns = group_row_bytes(read) / kReadBytes * groups;
        for (std::uint32_t first = 0; first + kWarpLanes / height <= columns; first += 3) {
          read.first_column = first;
          rows.emplace_back(read);
        }
      }
  return rows;
}

const Register kCase{{
    .name = "load.atom3d.columns",
    .claim = "a lane that applies the swizzle to the address of a chunk reads the chunk of its row "
             "and column, in every group of rows",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; 9.7.9.25.5.2 cp.async.bulk.tensor",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
