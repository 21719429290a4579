// Tile loads: ranks, element types, boxes, hints and the memory they read.
#include <fmt/format.h>

#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// 16 bytes wide and two high everywhere but along `dimension`.
TileLoad long_in(DataType type, std::uint32_t rank, std::uint32_t dimension, std::uint32_t box) {
  const std::uint32_t inner = elements_in(16, type);
  std::vector<std::uint64_t> extent{3 * inner, 5, 3, 3, 2};
  std::vector<std::uint32_t> boxes{inner, 2, 1, 1, 1};
  extent.resize(rank);
  boxes.resize(rank);
  extent[dimension] = box + 2 * elements_in(16, type);
  boxes[dimension] = box;
  return tile(type, extent, boxes);
}

// Boxes at the limits of their size: 256 in one dimension, 1 in all but the first, and larger than
// the tensor.
std::vector<Op> box_edge_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::u8, DataType::u32, DataType::u64})  // up to 2,048 bytes
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      TileLoad one_row = tile_of_rank(type, rank);
      one_row.map.box = {elements_in(64, type), 1, 1, 1, 1};
      rows.emplace_back(one_row);
      for (std::uint32_t dimension = 0; dimension < rank; ++dimension) {
        rows.emplace_back(long_in(type, rank, dimension, 256));
        TileLoad larger = tile_of_rank(type, rank);  // than the tensor, along one dimension
        larger.map.box[dimension] =
            static_cast<std::uint32_t>(larger.map.extent[dimension]) + elements_in(16, type);
        larger.at[dimension] = 0;
        rows.emplace_back(larger);
      }
    }
  return rows;
}

const Register kBoxEdge{{
    .name = "load.tile.box_edge",
    .claim = "a box of 256 in any dimension, of 1 in all outer ones, or larger than the tensor "
             "is loaded whole",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, boxDim",
    .rows = box_edge_rows,
}};

// The same boxes under every cache hint, beside every promotion of the L2 fetch.
std::vector<Op> cache_hint_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const CacheHint hint :
       {CacheHint::none, CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last}) {
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : kTypeOfEachSize) {
        TileLoad load =
            in_corner(tile_of_rank(type, rank), (1U << rank) - 1, rank % 2 == 0 ? 1 : 0);
        load.hint = hint;
        rows.emplace_back(load);
      }
    for (const auto promotion :
         {L2Promotion::none, L2Promotion::b64, L2Promotion::b128, L2Promotion::b256}) {
      TileLoad load = tile(DataType::f32, {96, 23}, {32, 17}, {32, 3});
      load.map.swizzle = Swizzle::b128;
      load.map.l2_promotion = promotion;
      load.hint = hint;
      rows.emplace_back(load);
    }
  }
  return rows;
}

const Register kCacheHint{{
    .name = "load.tile.cache_hint",
    .claim = "a cache policy on the instruction is a performance hint: under each of them the same "
             "bytes and the same credit arrive",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .level::cache_hint; 9.7.9.16 "
             "createpolicy",
    .rows = cache_hint_rows,
}};

// Sources that are not in L2 when the copy begins, from one sector to boxes of many lines.
std::vector<Op> cold_rows(const RunContext&) {
  std::vector<Op> rows;
  const auto add = [&](TileLoad load) {
    load.cold = true;
    rows.emplace_back(load);
  };
  for (const auto promotion : {L2Promotion::none, L2Promotion::b256})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank)
      for (const DataType type : kTypeOfEachSize) {
        TileLoad load = tile_of_rank(type, rank);
        load.map.l2_promotion = promotion;
        add(load);
        add(in_corner(load, (1U << rank) - 1, 1));
      }
  TileLoad large = tile(DataType::bf16, {2048, 160}, {64, 128}, {512, 17});
  large.map.swizzle = Swizzle::b128;
  for (const CacheHint hint :
       {CacheHint::none, CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last}) {
    large.hint = hint;
    add(large);
  }
  return rows;
}

const Register kCold{{
    .name = "load.tile.cold",
    .claim = "what a box brings is what memory holds, also where none of it is in L2",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = cold_rows,
}};

// Every plain element type, in boxes inside and across the end of a tensor.
std::vector<Op> dtype_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < kDataTypes; ++i) {
    const auto type = static_cast<DataType>(i);
    for (const std::uint32_t rank : {1U, 2U, 3U}) {
      const TileLoad load = tile_of_rank(type, rank);
      rows.emplace_back(load);
      rows.emplace_back(in_corner(load, (1U << rank) - 1, 1));
    }
  }
  return rows;
}

const Register kDtype{{
    .name = "load.tile.dtype",
    .claim = "elements of each of the 13 data types arrive bit for bit where no conversion is "
             "due",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, tensorDataType",
    .rows = dtype_rows,
}};

// `loads` boxes of `height` rows of 64 bytes on one barrier, each to a place of its own, by `maps`
// maps in turn, whose tensors begin 128 bytes apart and which swizzle or not.
Program many_loads(std::uint32_t loads, std::uint32_t maps, std::uint32_t height) {
  TileLoad load = tile(DataType::u8, {80, height + 3}, {64, height}, {16, 2});
  const std::uint32_t bytes = tile_bytes(load.map);
  Program program{
      .window = 2 * kGuardBytes + loads * bytes,
      .barriers = 1,
      .regions = {},
      .maps = {},
      .steps = {{.verb = Verb::init}, {.verb = Verb::arrive_expect_tx, .bytes = loads * bytes}},
      .payload = {},
      .what = fmt::format("{} loads on one barrier by {} maps", loads, maps)};
  for (std::uint32_t i = 0; i < maps; ++i) {
    load.map.base_offset = 128 * i;
    load.map.swizzle = i % 3 == 1 ? Swizzle::b64 : Swizzle::none;
    program.maps.push_back({.spec = load.map});
  }
  program.regions.push_back(region_of(load));
  for (std::uint32_t i = 0; i < loads; ++i)
    program.steps.push_back({.verb = Verb::load,
                             .thread = static_cast<std::uint16_t>(i),
                             .map = static_cast<std::uint8_t>(i % maps),
                             .offset = kGuardBytes + i * bytes,
                             .at = {16, static_cast<std::int32_t>(i % 3)}});
  program.steps.push_back({.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs});
  program.steps.push_back({.verb = Verb::snapshot});
  return program;
}

// Up to 128 copies that one phase waits for.
std::vector<Op> in_flight_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t loads : {8U, 9U, 16U, 17U, 31U, 32U, 33U, 64U, 128U})
    for (const std::uint32_t maps : {1U, 4U, 40U})
      for (const std::uint32_t height : {2U, 16U})
        rows.emplace_back(many_loads(loads, maps, height));
  return rows;
}

const Register kInFlight{{
    .name = "load.tile.in_flight",
    .claim =
        "one phase waits for as many loads as are issued before it ends, 32 and more, and each "
        "lands in its place",
    .cites = "PTX ISA 9.0, 9.7.13.15.5 tracking asynchronous operations by the mbarrier object",
    .rows = in_flight_rows,
}};

// The same boxes under every promotion of the L2 fetch.
std::vector<Op> l2_promotion_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const auto promotion :
       {L2Promotion::none, L2Promotion::b64, L2Promotion::b128, L2Promotion::b256})
    for (const DataType type : kTypeOfEachSize)
      for (const std::uint32_t rank : {2U, 3U}) {
        TileLoad load = tile_of_rank(type, rank);
        load.map.l2_promotion = promotion;
        rows.emplace_back(load);
        rows.emplace_back(in_corner(load, (1U << rank) - 1, 1));
      }
  return rows;
}

const Register kL2Promotion{{
    .name = "load.tile.l2_promotion",
    .claim = "the L2 promotion is a hint: it changes no byte and no credit",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, l2Promotion",
    .rows = l2_promotion_rows,
}};

// As many maps as loads.
std::vector<Op> maps_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t maps : {2U, 31U, 32U, 33U, 64U, 128U})
    for (const std::uint32_t height : {2U, 8U}) rows.emplace_back(many_loads(maps, maps, height));
  return rows;
}

const Register kMaps{{
    .name = "load.tile.maps",
    .claim = "a CTA may load by 32, 64 and more tensor maps, and each load goes by its own",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, tensorMap",
    .rows = maps_rows,
}};

// Legal loads drawn at random over rank, type, layout, swizzle, fill, strides and place; more of
// them at the higher levels.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {64, 16000, 64000}, random_tile);
}

const Register kRandom{{
    .name = "load.tile.random",
    .claim = "any legal tile load does what the documents say, however its features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; CUDA Driver API, "
             "cuTensorMapEncodeTiled",
    .rows = random_rows,
}};

// A box inside a tensor of kOfRank dimensions, at each inner corner and off them, for each element
// size.
template <std::uint32_t kOfRank>
std::vector<Op> rank_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize) {
    const TileLoad load = tile_of_rank(type, kOfRank);
    rows.emplace_back(load);
    for (std::uint32_t corner = 0; corner < 1U << kOfRank; ++corner)
      rows.emplace_back(in_corner(load, corner, 0));
  }
  return rows;
}

const Register kRank1{{
    .name = "load.tile.rank1",
    .claim = "a box inside a tensor of rank 1 arrives element by element, dimension 0 fastest, "
             "and credits its bytes once",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rank_rows<1>,
}};

const Register kRank2{{
    .name = "load.tile.rank2",
    .claim = "a box inside a tensor of rank 2 arrives element by element, dimension 0 fastest, "
             "and credits its bytes once",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rank_rows<2>,
}};

const Register kRank3{{
    .name = "load.tile.rank3",
    .claim = "a box inside a tensor of rank 3 arrives element by element, dimension 0 fastest, "
             "and credits its bytes once",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rank_rows<3>,
}};

const Register kRank4{{
    .name = "load.tile.rank4",
    .claim = "a box inside a tensor of rank 4 arrives element by element, dimension 0 fastest, "
             "and credits its bytes once",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rank_rows<4>,
}};

const Register kRank5{{
    .name = "load.tile.rank5",
    .claim = "a box inside a tensor of rank 5 arrives element by element, dimension 0 fastest, "
             "and credits its bytes once",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor; 5.5.3 tiled mode",
    .rows = rank_rows<5>,
}};

// The same boxes out of memory from every allocator, near to and far from the start of it.
std::vector<Op> source_rows(const RunContext&) {
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

const Register kSource{{
    .name = "load.tile.source",
    .claim = "a tensor may lie in any memory that is global to the GPU: of cudaMalloc, of a pool, "
             "of the host where it is pinned, or mapped by the driver",
    .cites = "CUDA Driver API, cuTensorMapEncodeTiled, globalAddress, and Virtual Memory "
             "Management; CUDA C++ Programming Guide, Unified Virtual Address Space",
    .rows = source_rows,
}};

}  // namespace
}  // namespace tidemark
