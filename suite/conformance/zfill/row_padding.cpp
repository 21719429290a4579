// Rows that end off 16 bytes, with bytes that are not zero in the padding behind them.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

// Rows of `left` elements more than two whole 16-byte chunks; the box takes the end of each row.
TileLoad ragged(DataType type, std::uint32_t left, std::int32_t at) {
  const std::uint32_t chunk = elements_in(16, type);
  TileLoad load = tile(type, {2 * chunk + left, 9}, {3 * chunk, 5}, {at, 2});
  load.map.stride[0] = 16 * 5;  // the row, up to 15 bytes to the next chunk, and two chunks more
  return load;
}

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t left = 1; left < elements_in(16, type); ++left)
      for (const std::int32_t at : {0, inner_step(type), 2 * inner_step(type)})
        rows.emplace_back(ragged(type, left, at));
  return rows;
}

const Register kCase{{
    .name = "zfill.row_padding",
    .claim = "loads end a row at its last element exactly: no byte of the padding behind it "
             "arrives",
    .cites = "PTX ISA 9.0, 5.5.3.3 out-of-boundary access",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
