// Matrices, boxes and places drawn at random; more of them at the higher levels.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

TileLoad random_atoms(std::uint64_t seed) {
  Draws draws(seed);
  const GroupedMatrix matrix{.type = static_cast<DataType>(draws.below(kDataTypes)),
                             .swizzle = kSwizzles[draws.below(3)],
                             .rows = draws.between(1, 40),
                             .groups = draws.between(1, 6),
                             .padding = 16 * draws.below(9)};
  const std::uint32_t high = draws.between(1, 32), wide = draws.between(1, 3);
  // From wholly before the matrix to wholly behind it.
  const auto place = [&](std::uint32_t extent, std::uint32_t box) {
    return static_cast<std::int32_t>(draws.below(extent + box + 1)) -
           static_cast<std::int32_t>(box);
  };
  const std::int32_t first_row = place(matrix.rows, high);
  TileLoad load = atoms(matrix, high, wide, first_row, place(matrix.groups, wide));
  if (draws.below(4) == 0) load.map.element_stride[1] = draws.between(2, 8);
  if (draws.below(6) == 0) load.map.element_stride[2] = draws.between(2, 3);
  load.map.l2_promotion = static_cast<L2Promotion>(draws.below(4));
  if (is_floating(matrix.type) && draws.below(2) == 0) load.map.fill = Fill::nan;
  load.map.base_offset = 128 * draws.below(5);
  load.destination_offset = 128 * draws.below(8);
  load.hint = static_cast<CacheHint>(draws.below(4));
  load.source = static_cast<MemorySource>(draws.below(4));
  return load;
}

std::vector<Op> rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {64, 2000, 4000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i)
    rows.emplace_back(random_atoms(splitmix64(context.seed + i)));
  return rows;
}

const Register kCase{{
    .name = "load.atom3d.random",
    .claim =
        "any box of rows and groups of a matrix lands as swizzled groups, wherever it lies and "
        "however the rows are padded",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode and 5.5.7 swizzling modes; CUDA Driver API, "
             "cuTensorMapEncodeTiled",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
