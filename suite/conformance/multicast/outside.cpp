// Boxes that hang out of the tensor, in part or whole: each block is filled, and credited in full.
#include "suite/case.hpp"
#include "suite/conformance/multicast_row.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// 13 x 5 elements in padded rows.
TileLoad narrow(std::int32_t x, std::int32_t y, Fill fill) {
  TileLoad load = tile(DataType::f32, {13, 5}, {8, 4}, {x, y});
  load.map.fill = fill;
  return load;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  const auto add = [&rows](const TileLoad& load) {
    const auto turn = static_cast<std::uint32_t>(rows.size());
    rows.emplace_back(multicast(load, 4, 0xfU, turn % 4));
    rows.emplace_back(multicast(load, 4, 0xeU & ~(1U << (turn % 3 + 1)), 0));
  };
  for (const DataType type : {DataType::u8, DataType::u64})
    for (const std::uint32_t rank : {2U, 3U})
      for (std::uint32_t corner = 0; corner < 1U << rank; ++corner)
        add(in_corner(tile_of_rank(type, rank), corner, 1));
  for (const Fill fill : {Fill::zero, Fill::nan})
    for (const std::int32_t x : {-4, 4, 8, 12})
      for (const std::int32_t y : {-2, 3, 40}) add(narrow(x, y, fill));
  return rows;
}

const Register kCase{{
    .name = "multicast.outside",
    .claim = "what lies outside the tensor is filled in every block of the mask, and each is "
             "credited the full box",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access; 9.7.9.25.5.2 cp.async.bulk.tensor, "
             ".multicast::cluster",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
