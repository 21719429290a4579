// A store whose box starts one plane in front of its tensor of rank 3.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  TileStore store = store_of(tile_of_rank(DataType::u16, 3));
  store.at[2] = -1;
  return {store};
}

const Register kCase{{
    .name = "behaviour.fault.store_negative_plane",
    .claim = "a tile store to plane -1 of a tensor of rank 3 ends in CUDA error 715; it costs its "
             "process and leaves an Xid in the kernel log, so it runs at level soak alone",
    .cites = "measured on an H200, driver 580.159.04, CUDA 13.0, 2026-11, in two processes; CUDA "
             "C++ Programming Guide 13.1, 10.29.2, forbids negative indices in stores and names "
             "no error",
    .level = Level::soak,
    .rows = rows,
    .expected_error = kIllegalInstruction,
}};

}  // namespace
}  // namespace tidemark::suite
