// A load whose box starts 8 bytes off the 16 that the inner coordinate moves in.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  TileLoad load = tile_of_rank(DataType::bf16, 2);
  load.at[0] = 4;
  return {load};
}

const Register kCase{{
    .name = "behaviour.fault.load_inner_coordinate",
    .claim = "a tile load of bf16 from inner coordinate 4, 8 bytes off 16, ends in CUDA error "
             "715; it costs its process and leaves an Xid in the kernel log, so it runs at level "
             "soak alone",
    .cites = "measured on an H200, driver 580.159.04, CUDA 13.0, 2026-11, in two processes; PTX "
             "ISA 9.0, 5.5.3.1, asks for 16 bytes and names no error",
    .level = Level::soak,
    .rows = rows,
    .expected_error = kIllegalInstruction,
}};

}  // namespace
}  // namespace tidemark::suite
