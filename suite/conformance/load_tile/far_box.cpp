// Boxes many GiB into a tensor: only what is touched has memory.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : far_boxes()) rows.emplace_back(load);
  return rows;
}

const Register kCase{{
    .name = "load.tile.far_box",
    .claim = "a box that begins beyond the first 2^32 bytes of its tensor is read there, and what "
             "lies behind its end is filled",
    .cites =
        "CUDA Driver API, cuTensorMapEncodeTiled, globalDim and globalStrides; PTX ISA 9.0, 5.5.3",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
