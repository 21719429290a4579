// Matrices seen as (group, row, column), which one copy lays out by swizzled atoms.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// Whole swizzle atoms of a row-major matrix by one copy of rank 3: every swizzle width and element
// size, one to several atoms high and wide.
std::vector<Op> atoms_rows(const RunContext&) {
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

const Register kAtoms{{
    .name = "load.atom3d.atoms",
    .claim =
        "one copy of rank 3 lays a row-major matrix out group by group, each as swizzled atoms of "
        "8 rows",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode and 5.5.7 swizzling modes; CUDA Driver API, "
             "cuTensorMapEncodeTiled, globalStrides",
    .rows = atoms_rows,
}};

// A warp reads every column of an atom layout, through each swizzle, by the address formula that a
// kernel would use.
std::vector<Op> columns_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (const std::uint32_t height : {8U, 16U, 32U})
      for (const std::uint32_t groups : {2U, 4U}) {
        TileRead read = atom_read(DataType::bf16, swizzle, 128, height, groups);
        read.load.destination_offset = height == 16 ? 384 : 0;
        const std::uint32_t columns = group_row_bytes(read.load.map) / kReadBytes * groups;
        for (std::uint32_t first = 0; first + kWarpLanes / height <= columns; first += 3) {
          read.first_column = first;
          rows.emplace_back(read);
        }
      }
  return rows;
}

const Register kColumns{{
    .name = "load.atom3d.columns",
    .claim = "a lane that applies the swizzle to the address of a chunk reads the chunk of its row "
             "and column, in every group of rows",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; 9.7.9.25.5.2 cp.async.bulk.tensor",
    .rows = columns_rows,
}};

// Matrices whose rows and groups of columns end inside the box, or that start inside it.
std::vector<Op> ragged_rows(const RunContext&) {
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

const Register kRagged{{
    .name = "load.atom3d.ragged",
    .claim = "rows and groups of columns outside the matrix are fill in every atom, and credit is "
             "that of the whole box",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; 5.5.7 swizzling modes; "
             "9.7.9.25.5.2 cp.async.bulk.tensor, complete-tx",
    .rows = ragged_rows,
}};

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

// Matrices, boxes and places drawn at random; more of them at the higher levels.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {64, 2000, 4000}, random_atoms);
}

const Register kRandom{{
    .name = "load.atom3d.random",
    .claim =
        "any box of rows and groups of a matrix lands as swizzled groups, wherever it lies and "
        "however the rows are padded",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode and 5.5.7 swizzling modes; CUDA Driver API, "
             "cuTensorMapEncodeTiled",
    .rows = random_rows,
}};

// The tile of 16 rows by 16 chunks of 16 bytes, which a swizzle frees of bank conflicts only in
// groups as wide as its atom: 16 x 8 chunks at 128 bytes, 16 x 4 at 64, 16 x 2 at 32.
std::vector<Op> sixteen_rows(const RunContext&) {
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

const Register kSixteen{{
    .name = "load.atom3d.sixteen",
    .claim = "a tile of 16 rows of 256 bytes arrives as groups one atom wide, 16 rows each, its "
             "chunks where the swizzle puts them for the address",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; CUDA C++ Programming Guide 13.1, 10.29.3.2",
    .rows = sixteen_rows,
}};

// The same columns of the same matrix when threads have placed its rows whole, groups side by side:
// the layout that a copy with a swizzle cannot write, since its box row would be too wide.
std::vector<Op> unsplit_rows(const RunContext&) {
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

const Register kUnsplit{{
    .name = "load.atom3d.unsplit",
    .claim = "a tile that threads place anew, rows of all groups side by side, holds the same "
             "chunks in the same rows and columns",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; 9.7.9.8 ld",
    .rows = unsplit_rows,
}};

}  // namespace
}  // namespace tidemark
