// Boxes of 64 to 222 KiB: one copy fills the shared memory of a CTA.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : large_boxes()) rows.emplace_back(load);
  return rows;
}

const Register kCase{{
    .name = "load.tile.large_box",
    .claim = "one copy loads as much as shared memory holds, and credits all of it",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, boxDim; PTX ISA 9.0, 9.7.13.15.2",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
