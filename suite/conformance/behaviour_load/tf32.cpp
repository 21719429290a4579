// Words that a map of tf32 cannot hold, loaded by one: cuda.h names the types and not the rounding.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// The tensor holds any words, whatever the type of the map: of 8,192 about one lies halfway between
// two numbers of tf32, 32 are subnormal and 64 are NaN.
Op of_any_words(TileLoad load) {
  load.held_to = HeldTo::measurement;
  Program program = program_of(load);
  program.regions[0].element = DataType::f32;
  return program;
}

std::vector<Op> rows(const RunContext&) {
  constexpr std::int32_t kRows = 16;  // of each type: no half to even in all of them once in e^8
  std::vector<Op> rows;
  for (const DataType type : {DataType::f32_ftz, DataType::tf32, DataType::tf32_ftz}) {
    for (std::int32_t first_row = 0; first_row < kRows; ++first_row)
      rows.emplace_back(of_any_words(tile(type, {256, 31 + kRows}, {256, 32}, {0, first_row})));
    TileLoad load = in_corner(tile_of_rank(type, 3), 5, 1);
    rows.emplace_back(of_any_words(load));
    load.map.swizzle = Swizzle::b64;
    rows.emplace_back(of_any_words(load));
  }
  return rows;
}

const Register kCase{{
    .name = "behaviour.load.tf32",
    .claim = "a load by tf32 or tf32_ftz rounds to ten mantissa bits, ties to even, subnormal "
             "numbers too, and makes every NaN 0x7fffe000; one by f32_ftz changes nothing",
    .cites = "measured on an H100, driver 580.159.04, 2026-11, each of the 2^32 words; CUDA Driver "
             "API, cuTensorMapEncodeTiled, names the types and says nothing of rounding",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
