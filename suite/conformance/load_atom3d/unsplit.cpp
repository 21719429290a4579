// The same columns of the same matrix when threads have placed its rows whole, groups side by side:
// the layout that a copy with a swizzle cannot write, since its box row would be too wide.
#include "suite/case.hpp"
#include "suite/conformance/atom_read.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (const DataType type : {DataType::u8, DataType::f16, DataType::f32})
      for (const std::uint32_t first : {0U, 1U, 2U}) {
        TileRead read = atom_read(type, swizzle, 128, 16, 2);
        read.placement = TilePlacement::unsplit;
        read.first_column = first;
        rows.emplace_back(read);
      }
  return rows;
}

const Register kCase{{
    .name = "load.atom3d.unsplit",
    .claim = "a tile that threads place anew, rows of all groups side by side, holds the same "
             "chunks in the same rows and columns",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; 9.7.9.8 ld",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
