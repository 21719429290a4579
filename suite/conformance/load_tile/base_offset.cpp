// Tensors that start on any 16 bytes, also off the 128 and 1024 bytes on which swizzle patterns
// repeat.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const Swizzle swizzle : {Swizzle::none, Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (const DataType type : {DataType::u8, DataType::u32})
      for (const std::uint32_t offset :
           {16U, 32U, 48U, 64U, 80U, 96U, 112U, 128U, 256U, 384U, 528U, 640U, 1008U, 1920U}) {
        // The CUDA Programming Guide (10.29.3.2, table 12) asks swizzled tensors for 128 bytes, the
        // driver's manual for 16: only what both promise is judged.
        if (swizzle != Swizzle::none && offset % 128 != 0) continue;
        const std::uint32_t bytes = swizzle == Swizzle::none ? 80 : swizzle_bytes(swizzle);
        const std::uint32_t inner = elements_in(bytes, type);
        TileLoad load = tile(type, {2 * inner + 3, 23}, {inner, 17}, {inner_step(type), 4});
        load.map.swizzle = swizzle;
        load.map.base_offset = offset;
        rows.emplace_back(load);
      }
  return rows;
}

const Register kCase{{
    .name = "load.tile.base_offset",
    .claim = "the tensor may start on any 16 bytes of global memory, on any 128 with a swizzle, "
             "and its address does not turn the swizzle",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalAddress; CUDA C++ Programming Guide "
             "13.1, 10.29.3.2",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
