// A box wholly outside: just past each side of each dimension, far past it, and past all at once;
// with one box that keeps a corner inside, for comparison.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

TileLoad moved(TileLoad load, std::uint32_t i, std::int32_t to) {
  load.at[i] = to;
  return load;
}

std::vector<Op> rows(const RunContext&) {
  constexpr std::int32_t kFar = 1 << 30;
  std::vector<Op> rows;
  for (const DataType type : {DataType::u16, DataType::f64})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      const TileLoad load = tile_of_rank(type, rank);
      for (std::uint32_t i = 0; i < rank; ++i) {
        const auto past = static_cast<std::int32_t>(load.map.extent[i]);
        const auto box = static_cast<std::int32_t>(load.map.box[i]);
        for (const std::int32_t to : {past, past + step_of(load, i), -box, kFar, -kFar})
          rows.emplace_back(moved(load, i, to));
      }
      rows.emplace_back(in_corner(load, 0, 1));
      if (rank == 1) continue;  // far along its one dimension, it has been
      TileLoad far = load;
      for (std::uint32_t i = 0; i < rank; ++i) far.at[i] = i % 2 == 0 ? -kFar : kFar;
      rows.emplace_back(far);
    }
  return rows;
}

const Register kCase{{
    .name = "zfill.whole",
    .claim = "a box wholly outside the tensor arrives as zeros and still credits its full size",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; 9.7.9.25.5.2 cp.async.bulk.tensor, "
             "complete-tx",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
