// A load to shared memory that is 16 bytes off the 128 on which a tile has to start, under the
// 128-byte swizzle.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  TileLoad load = tile(DataType::bf16, {128, 8}, {64, 4});
  load.map.swizzle = Swizzle::b128;
  load.destination_offset = 16;
  return {load};
}

const Register kCase{{
    .name = "behaviour.fault.load_destination_16",
    .claim = "a tile load to a shared address 16 bytes off 128, under the 128-byte swizzle, ends "
             "in CUDA error 716; it costs its process and leaves an Xid in the kernel log, so it "
             "runs at level soak alone",
    .cites = "measured on an H200, driver 580.159.04, CUDA 13.0, 2026-11, in two processes; CUDA "
             "C++ Programming Guide 13.1, 10.29.2, asks for 128 bytes and names no error",
    .level = Level::soak,
    .rows = rows,
    .expected_error = kMisalignedAddress,
}};

}  // namespace
}  // namespace tidemark::suite
