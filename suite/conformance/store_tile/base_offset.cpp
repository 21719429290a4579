// Tensors that start on any 16 bytes, and shared tiles that start on any 128.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::u32})
    for (std::uint32_t i = 1; i <= 20; ++i) {
      // 16 to 2000 bytes: each residue of 128 at least twice.
      const std::uint32_t offset = i <= 8 ? 16 * i : 16 * (i * i * 5 / 16);
      TileLoad box = tile(type, {elements_in(176, type), 11}, {elements_in(80, type), 7},
                          {inner_step(type), 3});
      box.map.base_offset = offset;
      box.destination_offset = 128 * (i % 8);
      rows.emplace_back(store_of(box));
    }
  for (const Swizzle swizzle : kSwizzles)
    for (const std::uint32_t offset : {128U, 256U, 384U, 640U, 1152U}) {
      // The CUDA Programming Guide (10.29.3.2, table 12) asks swizzled tensors for 128 bytes.
      const std::uint32_t inner = elements_in(swizzle_bytes(swizzle), DataType::u16);
      TileLoad box = tile(DataType::u16, {2 * inner, 11}, {inner, 7}, {0, 3});
      box.map.swizzle = swizzle;
      box.map.base_offset = offset;
      rows.emplace_back(store_of(box));
    }
  return rows;
}

const Register kCase{{
    .name = "store.tile.base_offset",
    .claim = "stores go into tensors that start on any 16 bytes of global memory, on any 128 with "
             "a swizzle, and their address does not turn the swizzle",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalAddress; CUDA C++ Programming Guide "
             "13.1, 10.29.3.2",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
