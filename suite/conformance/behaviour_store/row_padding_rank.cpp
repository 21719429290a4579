// Rows that end off 16 bytes in tensors of each rank, under swizzles, through several groups; the
// last row is the last of the tensor, with the guard behind it.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const Swizzle swizzle : {Swizzle::none, Swizzle::b64}) {
        TileStore store = ragged_store(type, rank, elements_in(16, type) - 1);  // 64 bytes wide
        store.map.swizzle = swizzle;
        store.stores = rank == 1 ? 1 : 2;  // the second reaches the end of the last dimension
        rows.emplace_back(store);
      }
  return rows;
}

const Register kCase{{
    .name = "behaviour.store.row_padding_rank",
    .claim = "at any rank and under a swizzle, too, stores write the 16 bytes that hold the last "
             "element of a row whole and nothing behind them",
    .cites =
        "measured on H200s, driver 580.159.04, 2026-11, four runs in four processes; first seen "
        "on an H100, github.com/triton-lang/triton, issue 11583; no NVIDIA document",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
