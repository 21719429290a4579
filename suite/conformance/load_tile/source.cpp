// The same boxes out of memory from every allocator, near to and far from the start of it.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const MemorySource source : {MemorySource::device, MemorySource::async, MemorySource::pinned,
                                    MemorySource::mapped, MemorySource::edge}) {
    const auto add = [&](TileLoad load) {
      load.source = source;
      rows.emplace_back(load);
    };
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : {DataType::u8, DataType::f64}) {
        const TileLoad load = tile_of_rank(type, rank);
        add(load);
        add(in_corner(load, 0, 1));
        add(in_corner(load, (1U << rank) - 1, 1));
      }
    // Past the first 64 KiB, where small pages end, and across their end.
    const TileLoad large = tile(DataType::u16, {1032, 40}, {64, 9}, {960, 31});
    add(large);
    add(in_corner(large, 3, 0));
    TileLoad swizzled = large;
    swizzled.map.swizzle = Swizzle::b128;
    swizzled.map.base_offset = 128;
    add(swizzled);
  }
  return rows;
}

const Register kCase{{
    .name = "load.tile.source",
    .claim = "a tensor may lie in any memory that is global to the GPU: of cudaMalloc, of a pool, "
             "of the host where it is pinned, or mapped by the driver",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalAddress, and Virtual Memory "
             "Management; CUDA C++ Programming Guide, Unified Virtual Address Space",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
