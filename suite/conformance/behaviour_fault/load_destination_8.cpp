// A load to shared memory that is 8 bytes off the 128 on which a tile has to start, without a
// swizzle.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  TileLoad load = tile_of_rank(DataType::u8, 2);
  load.map.swizzle = Swizzle::none;
  load.destination_offset = 8;
  return {load};
}

const Register kCase{{
    .name = "behaviour.fault.load_destination_8",
    .claim = "a tile load to a shared address 8 bytes off 128, without a swizzle, ends in CUDA "
             "error 716; it costs its process and leaves an Xid in the kernel log, so it runs at "
             "level soak alone",
    .cites = "measured on an H200, driver 580.159.04, CUDA 13.0, 2026-11, in two processes; CUDA "
             "C++ Programming Guide 13.1, 10.29.2, asks for 128 bytes and names no error",
    .level = Level::soak,
    .rows = rows,
    .expected_error = kMisalignedAddress,
}};

}  // namespace
}  // namespace tidemark::suite
