// Tile stores: ranks, element types, hints and the memory they write.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// Boxes of every rank stored under every cache hint.
std::vector<Op> cache_hint_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const CacheHint hint :
       {CacheHint::none, CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : kTypeOfEachSize) {
        TileStore store = over_far_end(type, rank, (1U << rank) - 1, rank % 2 == 0 ? 1 : 0);
        store.hint = hint;
        rows.emplace_back(store);
        store.at.fill(0);
        store.stores = 2;
        store.wait = StoreWait::read;
        rows.emplace_back(store);
      }
  return rows;
}

const Register kCacheHint{{
    .name = "store.tile.cache_hint",
    .claim = "a cache policy on the instruction is a performance hint: under each of them the same "
             "bytes are stored, and the same waits hold",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .level::cache_hint; 9.7.9.16 "
             "createpolicy",
    .rows = cache_hint_rows,
}};

// The same boxes into memory from every allocator, near to and far from the start of it.
std::vector<Op> destination_rows(const RunContext&) {
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

const Register kDestination{{
    .name = "store.tile.destination",
    .claim = "a tensor that is stored to may lie in any memory that is global to the GPU: of "
             "cudaMalloc, of a pool, of the host where it is pinned, or mapped by the driver, also "
             "where it ends with the last mapped byte",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalAddress, and Virtual Memory "
             "Management; CUDA C++ Programming Guide, Unified Virtual Address Space",
    .rows = destination_rows,
}};

// Every plain element type, in boxes inside and across the end of a tensor.
std::vector<Op> dtype_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < kDataTypes; ++i) {
    const auto type = static_cast<DataType>(i);
    for (const std::uint32_t rank : {1U, 2U, 3U}) {
      rows.emplace_back(store_of(tile_of_rank(type, rank)));
      rows.emplace_back(over_far_end(type, rank, (1U << rank) - 1, 1));
    }
  }
  return rows;
}

const Register kDtype{{
    .name = "store.tile.dtype",
    .claim = "elements of each of the 13 data types are stored bit for bit where no conversion is "
             "due",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, tensorDataType",
    .rows = dtype_rows,
}};

// Legal stores drawn at random over rank, type, layout, swizzle, strides, place, groups and wait;
// more of them at the higher levels.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {64, 1000, 4000}, random_store);
}

const Register kRandom{{
    .name = "store.tile.random",
    .claim = "any legal tile store does what the documents say, however its features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; CUDA Driver API, "
             "cuTensorMapEncodeTiled",
    .rows = random_rows,
}};

// A box into a tensor of kOfRank dimensions, at every inner corner and off them, for each element
// size.
template <std::uint32_t kOfRank>
std::vector<Op> rank_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize) {
    const TileLoad box = tile_of_rank(type, kOfRank);
    rows.emplace_back(store_of(box));
    for (std::uint32_t corner = 0; corner < 1U << kOfRank; ++corner)
      rows.emplace_back(store_of(in_corner(box, corner, 0)));
  }
  return rows;
}

const Register kRank1{{
    .name = "store.tile.rank1",
    .claim = "a box stored into a tensor of rank 1 lands element by element, dimension 0 fastest, "
             "and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rank_rows<1>,
}};

const Register kRank2{{
    .name = "store.tile.rank2",
    .claim = "a box stored into a tensor of rank 2 lands element by element, dimension 0 fastest, "
             "and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rank_rows<2>,
}};

const Register kRank3{{
    .name = "store.tile.rank3",
    .claim = "a box stored into a tensor of rank 3 lands element by element, dimension 0 fastest, "
             "and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rank_rows<3>,
}};

const Register kRank4{{
    .name = "store.tile.rank4",
    .claim = "a box stored into a tensor of rank 4 lands element by element, dimension 0 fastest, "
             "and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rank_rows<4>,
}};

const Register kRank5{{
    .name = "store.tile.rank5",
    .claim = "a box stored into a tensor of rank 5 lands element by element, dimension 0 fastest, "
             "and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rank_rows<5>,
}};

}  // namespace
}  // namespace tidemark
