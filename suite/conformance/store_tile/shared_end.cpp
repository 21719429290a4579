// Tiles at addresses of shared memory that 16 or 17 bits cannot hold, and at its end.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : at_shared_end()) rows.emplace_back(store_of(load));
  return rows;
}

const Register kCase{{
    .name = "store.tile.shared_end",
    .claim = "a tile is stored from any place in the shared memory of a CTA, to its end",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2; CUDA C++ Programming Guide 13.1, compute capability 9.0",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
