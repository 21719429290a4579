// A box that hangs over every corner of the tensor, by one step in each dimension.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::f32})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (std::uint32_t corner = 0; corner < 1U << rank; ++corner)
        rows.emplace_back(in_corner(tile_of_rank(type, rank), corner, 1));
  return rows;
}

const Register kCase{{
    .name = "zfill.corner",
    .claim = "a box over any of the 2^rank corners is zero outside the tensor in every dimension "
             "and unchanged inside",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
