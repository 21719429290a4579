// Whole swizzle atoms of a row-major matrix by one copy of rank 3: every swizzle width and element
// size, one to several atoms high and wide.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (const DataType type : {DataType::u8, DataType::bf16, DataType::f32, DataType::f64})
      for (const auto& [high, wide] :
           {std::pair{8U, 1U}, {8U, 3U}, {16U, 2U}, {32U, 1U}, {24U, 2U}})
        for (const std::uint32_t padding : {0U, 48U}) {
          // Nightly and quick runs alike: half of the pairs of shape and padding, in turn by type.
          if ((element_bytes(type) + high / 8 + wide + padding) % 2 == 1) continue;
          const GroupedMatrix matrix{
              .type = type, .swizzle = swizzle, .rows = 37, .groups = 5, .padding = padding};
          TileLoad load = atoms(matrix, high, wide, 3, 1);
          load.destination_offset = padding == 0 ? 0 : 1024;
          rows.emplace_back(load);
        }
  return rows;
}

const Register kCase{{
    .name = "load.atom3d.atoms",
    .claim =
        "one copy of rank 3 lays a row-major matrix out group by group, each as swizzled atoms of "
        "8 rows",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode and 5.5.7 swizzling modes; CUDA Driver API, "
             "cuTensorMapEncodeTiled, globalStrides",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
