// The claims of the Croqtile article; suite/articles.md lists them.
#include <utility>

#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kTokens = 120, kWidth = 128;  // rows and columns of all experts
constexpr std::uint32_t kHeight = 16;                 // of a box

// The boxes of `rows` rows from `first` on, by coordinates among all: the last one holds what the
// next expert has there.
TileRoundTrip ragged_overlap_by_coordinates(const TensorMapSpec& tokens, std::uint32_t first,
                                            std::uint32_t rows) {
  TileRoundTrip trip = there_and_back(tokens, tokens);
  for (TileWalk* walk : {&trip.load, &trip.store}) {
    walk->at[1] = static_cast<std::int32_t>(first);
    walk->tiles[1] = (rows + kHeight - 1) / kHeight;
  }
  trip.ctas = 1;
  trip.stages = 2;
  return trip;
}

// The same rows by a map that ends where they do.
void confine(TensorMapSpec& map, TileWalk& walk, std::uint32_t first, std::uint32_t rows) {
  map.base_offset = first * static_cast<std::uint32_t>(map.stride[0]);
  map.extent[1] = rows;
  walk.at[1] = 0;
}

// The rows of an expert begin and end anywhere among those of the others, and a box of fixed height
// covers rows of the next one as well.
std::vector<Op> ragged_overlap_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::f16, DataType::f32})
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b128})
      for (const auto& [first, height] :
           {std::pair{0U, 5U}, std::pair{5U, 37U}, std::pair{42U, 16U}, std::pair{58U, 1U}}) {
        const TensorMapSpec tokens =
            map_of(type, {kWidth, kTokens}, {128 / element_bytes(type), kHeight}, swizzle);
        TileRoundTrip trip = ragged_overlap_by_coordinates(tokens, first, height);
        rows.emplace_back(trip);
        confine(trip.to, trip.store, first, height);  // the store is cut, the load is not
        rows.emplace_back(trip);
        confine(trip.from, trip.load, first, height);
        rows.emplace_back(trip);
      }
  return rows;
}

const Register kRaggedOverlap{{
    .name = "scenario.croqtile.ragged_overlap",
    .claim =
        "a box that reaches into the rows of the next expert brings them as they are, or zeros "
        "where a map of its own ends before them, and a store by such a map leaves them alone",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode and 5.5.3.3 out-of-bounds access; Croqtile manual, "
             "Arbitrary-offset windows: view and from",
    .rows = ragged_overlap_rows,
}};

// A strip of 1024 elements as a tensor of `extent`.
struct Shape {
  std::vector<std::uint64_t> extent;
  std::vector<std::uint32_t> box;  // 128 elements
};

std::vector<Shape> shapes() {
  return {{{1024}, {128}},
          {{128, 8}, {128, 1}},
          {{64, 16}, {64, 2}},
          {{32, 32}, {32, 4}},
          {{16, 8, 8}, {16, 8, 1}},
          {{16, 4, 16}, {16, 4, 2}},
          {{16, 2, 4, 8}, {16, 2, 4, 1}},
          {{16, 2, 2, 2, 8}, {16, 2, 2, 2, 1}}};
}

// One flat strip seen with several dimensions through another map: no byte changes its place.
std::vector<Op> span_as_rows(const RunContext&) {
  std::vector<Op> rows;
  const std::vector<Shape> all = shapes();
  for (const DataType type : {DataType::u8, DataType::f16, DataType::f32})
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Shape &from = all[i], &to = all[(i + 3) % all.size()];
      TileRoundTrip trip =
          there_and_back(map_of(type, from.extent, from.box), map_of(type, to.extent, to.box));
      if (i % 2 == 0) {
        trip.ctas = 2;
        trip.stages = 2;
      }
      if (i % 4 == 3 && type == DataType::f16) trip.work = TileWork::thread_copy;
      rows.emplace_back(trip);
    }
  return rows;
}

const Register kSpanAs{{
    .name = "scenario.croqtile.span_as",
    .claim = "a strip loaded with one shape and stored with another of as many elements comes back "
             "unchanged, for shapes of one to five dimensions",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode; Croqtile manual, Layout reinterpretation: span_as",
    .rows = span_as_rows,
}};

// Tiles that stand further apart than they are wide, and tiles that overlap.
std::vector<Op> subspan_step_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::f16, DataType::f32})
    for (const std::int32_t step_x : {16, 32, 8})
      for (const std::int32_t step_y : {16, 32, 8, 3}) {
        const TensorMapSpec matrix = map_of(type, {80, 84}, {16, 16});
        const TensorMapSpec packed = map_of(type, {48, 32}, {16, 16});  // 3 x 2 tiles
        TileRoundTrip trip = there_and_back(packed, packed);
        trip.from = matrix;
        trip.load.step = {step_x, step_y};
        if (step_y == 32) trip.ctas = 1;
        if (step_y == 3) {
          trip.ctas = 2;
          trip.stages = 3;
        }
        rows.emplace_back(trip);
      }
  return rows;
}

const Register kSubspanStep{{
    .name = "scenario.croqtile.subspan_step",
    .claim = "tiles loaded at steps larger or smaller than themselves hold what stands there, the "
             "overlap in each of those that share it",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode; Croqtile manual, Strided tiles: .subspan, .step, and "
             ".at",
    .rows = subspan_step_rows,
}};

// Threads that place a tile by the swizzle formula and the copy engine give the same layout.
std::vector<Op> thread_copy_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128}) {
      const std::uint32_t bytes = swizzle == Swizzle::none ? 96 : swizzle_bytes(swizzle);
      const std::uint32_t inner = elements_in(bytes, type), height = 1024 / bytes + 3;
      const TensorMapSpec map = map_of(type, {2 * inner, 2 * height - 1}, {inner, height}, swizzle);
      TileRoundTrip trip = there_and_back(map, map);
      trip.work = TileWork::thread_copy;
      rows.emplace_back(trip);
      trip.ctas = 1;
      trip.stages = 3;  // an odd number of 128-byte rows a stage: another phase in each
      rows.emplace_back(trip);
    }
  return rows;
}

const Register kThreadCopy{{
    .name = "scenario.croqtile.thread_copy",
    .claim =
        "a tile that threads place by the exclusive-or of address bits and one that the engine "
        "swizzles are the same bytes, and the store reads either",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes; Croqtile manual, Advanced Data Movement, Swizzle "
             "and bank conflicts",
    .rows = thread_copy_rows,
}};

constexpr std::uint32_t kRows = 32, kColumns = 24;  // of the view

TileRoundTrip view_from_by_coordinates(DataType type, std::int32_t row, std::int32_t column) {
  const TensorMapSpec matrix = map_of(type, {96, 80}, {8, 16});
  const TensorMapSpec view = map_of(type, {kColumns, kRows}, {8, 16});
  TileRoundTrip trip = there_and_back(view, view);
  trip.from = matrix;
  trip.load.at = {column, row};
  return trip;
}

TileRoundTrip by_address(DataType type, std::int32_t row, std::int32_t column) {
  TileRoundTrip trip = view_from_by_coordinates(type, row, column);
  trip.from.extent = {kColumns, kRows};
  trip.from.base_offset =
      static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(trip.from.stride[0]) +
      static_cast<std::uint32_t>(column) * element_bytes(type);
  trip.load.at = {};
  return trip;
}

// A window at any row and at any column that lies on 16 bytes, in two ways: by coordinates in the
// map of the whole, and by a map of its own that starts there.
std::vector<Op> view_from_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::f16, DataType::f32})
    for (const std::int32_t row : {37, 0, 41})  // row 37 is the article's; its column 50 of f16 is
      for (const std::int32_t column : {48, 56, 8}) {  // off 16 bytes and would fault
        rows.emplace_back(view_from_by_coordinates(type, row, column));
        TileRoundTrip placed = by_address(type, row, column);
        placed.work = TileWork::thread_copy;
        placed.ctas = 2;
        rows.emplace_back(placed);
      }
  return rows;
}

const Register kViewFrom{{
    .name = "scenario.croqtile.view_from",
    .claim = "a view that starts at any row and at a column on 16 bytes is moved the same by "
             "coordinates in the whole matrix and by a map of its own",
    .cites = "PTX ISA 9.0, 5.5.3.1 alignment of the inner coordinate; Croqtile manual, "
             "Arbitrary-offset windows: view and from",
    .rows = view_from_rows,
}};

// The ragged operand into a tensor of whole tiles, which then shows the zeros.
TileRoundTrip padded(const TensorMapSpec& ragged) {
  TensorMapSpec whole = ragged;
  const TileWalk walk = cover(ragged);
  for (std::uint32_t i = 0; i < ragged.rank; ++i)
    whole.extent[i] = std::uint64_t{walk.tiles[i]} * ragged.box[i];
  whole.stride[0] = whole.extent[0] * element_bytes(whole.type) + 48;
  return there_and_back(ragged, whole);
}

// Operands of a GEMM whose M, N and K are no multiples of the tile: the last tiles are filled with
// zeros, and C is cut where it ends.
std::vector<Op> zfill_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::b64, Swizzle::b128})
    for (const std::uint64_t rows_left : {1U, 5U, 15U})
      for (const std::uint64_t columns_left : {1U, 7U, 8U, 31U}) {
        const std::uint32_t inner = swizzle_bytes(swizzle) / 2;
        const TensorMapSpec ragged =
            map_of(DataType::f16, {inner + columns_left, 16 + rows_left}, {inner, 16}, swizzle);
        TileRoundTrip operand = padded(ragged);
        rows.emplace_back(operand);
        if (columns_left == 7) {
          operand.work = TileWork::thread_copy;
          rows.emplace_back(operand);
        }
        if (columns_left != 8) continue;
        // Rows that end on 16 bytes: a store is cut exactly there, too.
        TileRoundTrip cut = there_and_back(ragged, ragged);
        cut.ctas = 2;
        rows.emplace_back(cut);
      }
  return rows;
}

const Register kZfill{{
    .name = "scenario.croqtile.zfill",
    .claim = "the part of a last tile that lies beyond M, N or K arrives as zeros, whatever memory "
             "holds there, and a store of such a tile stops where the tensor does",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; Croqtile manual, Zero-padding: .zfill",
    .rows = zfill_rows,
}};

}  // namespace
}  // namespace tidemark
