// A store whose whole box lies in front of its tensor: nothing of it could be stored. Behind the
// tensor's far end such a store is legal (store.tile.whole_outside).
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  TileStore store = store_of(tile_of_rank(DataType::u8, 2));
  store.at[0] = -256;
  return {store};
}

const Register kCase{{
    .name = "behaviour.fault.store_negative_whole",
    .claim = "a tile store whose box lies wholly before the tensor, from inner coordinate -256 "
             "on, ends in CUDA error 715; it costs its process and leaves an Xid in the kernel "
             "log, so it runs at level soak alone",
    .cites = "measured on an H200, driver 580.159.04, CUDA 13.0, 2026-11, in two processes; CUDA "
             "C++ Programming Guide 13.1, 10.29.2, forbids negative indices in stores and names "
             "no error",
    .level = Level::soak,
    .rows = rows,
    .expected_error = kIllegalInstruction,
}};

}  // namespace
}  // namespace tidemark::suite
