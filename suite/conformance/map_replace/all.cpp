// Maps of which every field is written into zeros, with strides up to the longest.
#include "suite/case.hpp"
#include "suite/conformance/map_change.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  const auto add = [&](const TileLoad& box, bool stores) {
    rows.emplace_back(program_of({.boxes = {box}, .zeroed = true, .stores = stores, .thread = 64}));
  };
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (std::uint32_t type = 0; type < kernels::kDataTypes; ++type) {
      if (context.level == Level::quick && (type + rank) % 2 == 1) continue;
      add(full_map(static_cast<DataType>(type), rank), false);
      if (type < 4) add(tile_of_rank(static_cast<DataType>(type), rank), true);
    }
  for (const TileLoad& box : far_strides()) add(box, false);
  return rows;
}

const Register kCase{{
    .name = "map.replace.all",
    .claim = "a tensor map of which all fields are written into 128 bytes of zeros is the map that "
             "would be encoded so, of every type and with strides up to 2^40-16 bytes",
    .cites = "PTX ISA 9.0, 9.7.9.26 tensormap.replace; CUDA C++ Programming Guide 13.0, 10.30 "
             "Encoding a Tensor Map on Device",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
