// Strides from 2^32 bytes on: of the memory between the rows nothing is there.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : far_strides()) {
    TileStore store = store_of(load);
    store.destination = load.source;
    rows.emplace_back(store);
  }
  return rows;
}

const Register kCase{{
    .name = "store.tile.far_stride",
    .claim = "rows that lie 2^32 bytes and more apart are written where the stride says",
    .cites =
        "CUDA Driver API, cuTensorMapEncodeTiled, globalDim and globalStrides; PTX ISA 9.0, 5.5.3",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
