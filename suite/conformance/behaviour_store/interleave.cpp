// Stores by interleaved maps: the units of one slice, clipped at the ends of the tensor.
#include "suite/conformance/interleave.hpp"
#include "suite/case.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : interleaved_loads()) {
    rows.emplace_back(interleaved_store(load));
    rows.emplace_back(interleaved_store(over_end(load, true)));
  }
  return rows;
}

const Register kCase{{
    .name = "behaviour.store.interleave",
    .claim = "a store by an interleaved map writes the units that a load would take, packed from "
             "shared memory, and nothing outside of the tensor",
    .cites = "measured on an H100, driver 580.159.04, 2026-11; PTX ISA 9.0, 5.5.6, names NC/8HWC8 "
             "and NC/16HWC16 alone",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
