// A load whose box starts one element in front of its tensor, which is no multiple of 16 bytes.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  TileLoad load = tile_of_rank(DataType::f32, 2);
  load.at[0] = -1;
  return {load};
}

const Register kCase{{
    .name = "behaviour.fault.load_inner_negative",
    .claim = "a tile load of f32 from inner coordinate -1 ends in CUDA error 715, though outside "
             "the tensor there is nothing to read; it costs its process and leaves an Xid in the "
             "kernel log, so it runs at level soak alone",
    .cites = "measured on an H200, driver 580.159.04, CUDA 13.0, 2026-11, in two processes; PTX "
             "ISA 9.0, 5.5.3.1, asks for 16 bytes and names no error",
    .level = Level::soak,
    .rows = rows,
    .expected_error = kIllegalInstruction,
}};

}  // namespace
}  // namespace tidemark::suite
