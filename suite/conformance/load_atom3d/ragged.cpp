// Matrices whose rows and groups of columns end inside the box, or that start inside it.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (const DataType type : {DataType::u8, DataType::bf16, DataType::f32, DataType::f64}) {
      const GroupedMatrix matrix{
          .type = type, .swizzle = swizzle, .rows = 21, .groups = 3, .padding = 16};
      rows.emplace_back(atoms(matrix, 16, 2, 16, 0));  // 5 rows are left
      rows.emplace_back(atoms(matrix, 16, 2, 0, 2));   // one group is left
      rows.emplace_back(atoms(matrix, 8, 2, 20, 2));   // one row of one group
      rows.emplace_back(atoms(matrix, 8, 2, -7, -1));  // the first row of the first group
      rows.emplace_back(atoms(matrix, 24, 4, 0, 0));   // larger than the matrix both ways
      rows.emplace_back(atoms(matrix, 8, 3, 7, -3));   // no group at all
      // The last group is cut off by the end of the row. Its map counts whole groups, so that what
      // stands behind the row, up to the next one, is inside.
      TileLoad cut = atoms(matrix, 8, 2, 2, 1);
      cut.map.stride[0] -= swizzle_bytes(swizzle) / 2 + 16;
      rows.emplace_back(cut);
      if (!is_floating(type)) continue;
      TileLoad nan = atoms(matrix, 16, 2, 14, 2);
      nan.map.fill = Fill::nan;
      rows.emplace_back(nan);
    }
  return rows;
}

const Register kCase{{
    .name = "load.atom3d.ragged",
    .claim = "rows and groups of columns outside the matrix are fill in every atom, and credit is "
             "that of the whole box",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; 5.5.7 swizzling modes; "
             "9.7.9.25.5.2 cp.async.bulk.tensor, complete-tx",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
