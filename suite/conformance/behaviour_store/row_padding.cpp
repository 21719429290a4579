// Rows that end off 16 bytes: what a store does to the padding behind their last element, which
// the documents say is outside the tensor and left alone.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t left = 1; left < elements_in(16, type); ++left)
      for (const std::int32_t at : {0, inner_step(type), 2 * inner_step(type)}) {
        TileStore store = ragged_store(type, 2, left);
        store.at[0] = at;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kCase{{
    .name = "behaviour.store.row_padding",
    .claim = "stores write the 16 bytes that hold the last element of a row whole, the padding in "
             "them included, and nothing behind them",
    .cites =
        "measured on H200s, driver 580.159.04, 2026-11, four runs in four processes; first seen "
        "on an H100, github.com/triton-lang/triton, issue 11583; no NVIDIA document",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
