// A window at any row and at any column that lies on 16 bytes, in two ways: by coordinates in the
// map of the whole, and by a map of its own that starts there.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

constexpr std::uint32_t kRows = 32, kColumns = 24;  // of the view

TileRoundTrip by_coordinates(DataType type, std::int32_t row, std::int32_t column) {
  const TensorMapSpec matrix = map_of(type, {96, 80}, {8, 16});
  const TensorMapSpec view = map_of(type, {kColumns, kRows}, {8, 16});
  TileRoundTrip trip = there_and_back(view, view);
  trip.from = matrix;
  trip.load.at = {column, row};
  return trip;
}

TileRoundTrip by_address(DataType type, std::int32_t row, std::int32_t column) {
  TileRoundTrip trip = by_coordinates(type, row, column);
  trip.from.extent = {kColumns, kRows};
  trip.from.base_offset =
      static_cast<std::uint32_t>(row) * static_cast<std::uint32_t>(trip.from.stride[0]) +
      static_cast<std::uint32_t>(column) * element_bytes(type);
  trip.load.at = {};
  return trip;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::f16, DataType::f32})
    for (const std::int32_t row : {37, 0, 41})  // row 37 is the article's; its column 50 of f16 is
      for (const std::int32_t column : {48, 56, 8}) {  // off 16 bytes and would fault
        rows.emplace_back(by_coordinates(type, row, column));
        TileRoundTrip placed = by_address(type, row, column);
        placed.work = TileWork::thread_copy;
        placed.ctas = 2;
        rows.emplace_back(placed);
      }
  return rows;
}

const Register kCase{{
    .name = "scenario.croqtile.view_from",
    .claim = "a view that starts at any row and at a column on 16 bytes is moved the same by "
             "coordinates in the whole matrix and by a map of its own",
    .cites = "PTX ISA 9.0, 5.5.3.1 alignment of the inner coordinate; Croqtile manual, "
             "Arbitrary-offset windows: view and from",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
