// Boxes many GiB into a tensor: only what is touched has memory.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : far_boxes()) {
    TileStore store = store_of(load);
    store.destination = load.source;
    rows.emplace_back(store);
  }
  return rows;
}

const Register kCase{{
    .name = "store.tile.far_box",
    .claim = "a box that begins beyond the first 2^32 bytes of its tensor is written there, and "
             "nothing behind its end",
    .cites =
        "CUDA Driver API, cuTensorMapEncodeTiled, globalDim and globalStrides; PTX ISA 9.0, 5.5.3",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
