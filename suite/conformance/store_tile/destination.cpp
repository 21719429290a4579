// The same boxes into memory from every allocator, near to and far from the start of it.
#include "suite/case.hpp"
#include "suite/conformance/store.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const MemorySource destination :
       {MemorySource::device, MemorySource::async, MemorySource::pinned, MemorySource::mapped}) {
    const auto add = [&](TileStore store) {
      store.destination = destination;
      rows.emplace_back(store);
    };
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : {DataType::u8, DataType::f64}) {
        add(store_of(tile_of_rank(type, rank)));
        add(over_far_end(type, rank, (1U << rank) - 1, 1));
      }
    // Past the first 64 KiB, where small pages end, and across their end.
    const TileLoad large = tile(DataType::u16, {1032, 40}, {64, 9}, {960, 31});
    add(store_of(large));
    TileStore swizzled = store_of(large);
    swizzled.map.swizzle = Swizzle::b128;
    swizzled.map.base_offset = 128;
    swizzled.at[1] = 3;
    swizzled.stores = 2;
    swizzled.wait = StoreWait::read;
    add(swizzled);
  }
  // Into tensors that end with the last mapped byte, and over their end.
  for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
    for (const DataType type : kTypeOfEachSize)
      for (const std::int32_t overhang : {0, 1}) {
        TileLoad load = tile_of_rank(type, rank);
        const std::uint32_t chunk = elements_in(16, type);
        load.map.extent[0] = (load.map.extent[0] + chunk - 1) / chunk * chunk;
        TileStore store = store_of(in_corner(load, (1U << rank) - 1, overhang));
        store.destination = MemorySource::edge;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kCase{{
    .name = "store.tile.destination",
    .claim = "a tensor that is stored to may lie in any memory that is global to the GPU: of "
             "cudaMalloc, of a pool, of the host where it is pinned, or mapped by the driver, also "
             "where it ends with the last mapped byte",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalAddress, and Virtual Memory "
             "Management; CUDA C++ Programming Guide, Unified Virtual Address Space",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
