// Swizzled boxes of fewer rows than one pattern has, down to a single row.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : kSwizzles)
    for (std::uint32_t height = 1; height < 8; ++height)
      for (const std::uint32_t phase : {0U, 3U, 6U}) {
        const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), DataType::u16);
        TileLoad load = tile(DataType::u16, {2 * inner + 1, 13}, {inner, height},
                             {static_cast<std::int32_t>(inner / 2), 3});
        load.map.swizzle = swizzle;
        load.destination_offset = 128 * phase;
        rows.emplace_back(load);
      }
  return rows;
}

const Register kCase{{
    .name = "load.tile.swizzle_few_rows",
    .claim = "a swizzled box shorter than the pattern lies as the first rows of the pattern and "
             "touches nothing behind them",
    .cites = "PTX ISA 9.0, 5.5.7 swizzling modes",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
