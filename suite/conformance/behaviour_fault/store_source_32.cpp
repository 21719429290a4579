// A store from shared memory that is 32 bytes off the 128 on which a tile has to start, under the
// 32-byte swizzle.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  TileStore store = store_of(tile(DataType::f32, {32, 8}, {8, 4}));
  store.map.swizzle = Swizzle::b32;
  store.source_offset = 32;
  return {store};
}

const Register kCase{{
    .name = "behaviour.fault.store_source_32",
    .claim = "a tile store from a shared address 32 bytes off 128, under the 32-byte swizzle, "
             "ends in CUDA error 716; it costs its process and leaves an Xid in the kernel log, "
             "so it runs at level soak alone",
    .cites = "measured on an H200, driver 580.159.04, CUDA 13.0, 2026-11, in two processes; CUDA "
             "C++ Programming Guide 13.1, 10.29.2, asks for 128 bytes and names no error",
    .level = Level::soak,
    .rows = rows,
    .expected_error = kMisalignedAddress,
}};

}  // namespace
}  // namespace tidemark::suite
