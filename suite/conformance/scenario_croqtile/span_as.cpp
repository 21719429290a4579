// One flat strip seen with several dimensions through another map: no byte changes its place.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

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

std::vector<Op> rows(const RunContext &) {
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

const Register kCase{{
    .name = "scenario.croqtile.span_as",
    .claim = "a strip loaded with one shape and stored with another of as many elements comes back "
             "unchanged, for shapes of one to five dimensions",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode; Croqtile manual, Layout reinterpretation: span_as",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
