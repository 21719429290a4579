// Boxes of 64 to 222 KiB: one copy empties the shared memory of a CTA.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : large_boxes()) rows.emplace_back(store_of(load));
  return rows;
}

const Register kCase{{
    .name = "store.tile.large_box",
    .claim = "one copy stores as much as shared memory holds",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, boxDim",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
