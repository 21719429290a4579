// NaN fill of every floating type over each side of each dimension and over each corner, in every
// rank, with and without a swizzle.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

TileLoad nan_filled(DataType type, std::uint32_t rank, bool swizzled) {
  TileLoad load = tile_of_rank(type, rank);
  load.map.fill = Fill::nan;
  if (swizzled) load.map.swizzle = Swizzle::b64;  // tile_of_rank has boxes 64 bytes wide
  return load;
}

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  std::uint32_t turn = 0;
  // Quick runs take each side and corner with two of the seven types in turn, nightly ones with
  // all.
  const auto skip = [&] { return context.level == Level::quick && turn++ % 7 > 1; };
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
    for (std::uint32_t i = 0; i < rank; ++i)
      for (const bool high : {false, true})
        for (const DataType type : kFloatingTypes) {
          if (skip()) continue;
          TileLoad load = nan_filled(type, rank, (rank + i) % 2 == 0);
          load.at[i] = high ? highest_inside(load, i) + step_of(load, i) : -step_of(load, i);
          rows.emplace_back(load);
        }
    for (std::uint32_t corner = 0; rank > 1 && corner < 1U << rank; ++corner)
      for (const DataType type : kFloatingTypes) {
        if (skip()) continue;
        rows.emplace_back(in_corner(nan_filled(type, rank, corner % 2 == 1), corner, 1));
      }
  }
  return rows;
}

const Register kCase{{
    .name = "zfill.nan_side",
    .claim = "over each side and each corner of a tensor of any rank, NaN fill ends where the "
             "tensor begins, for each floating type",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, oobFill = NAN_REQUEST_ZERO_FMA; PTX ISA "
             "9.0, 5.5.3.3",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
