// A store whose box starts a single byte off the 16 that the inner coordinate moves in.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  TileStore store = store_of(tile_of_rank(DataType::u8, 2));
  store.at[0] = 1;
  return {store};
}

const Register kCase{{
    .name = "behaviour.fault.store_inner_byte",
    .claim = "a tile store of u8 to inner coordinate 1 ends in CUDA error 715; it costs its "
             "process and leaves an Xid in the kernel log, so it runs at level soak alone",
    .cites = "measured on an H200, driver 580.159.04, CUDA 13.0, 2026-11, in two processes; PTX "
             "ISA 9.0, 5.5.3.1, asks for 16 bytes and names no error",
    .level = Level::soak,
    .rows = rows,
    .expected_error = kIllegalInstruction,
}};

}  // namespace
}  // namespace tidemark::suite
