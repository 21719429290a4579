// The examples of the Mojo article; suite/articles.md lists its claims.
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

TileRoundTrip counted(TileRoundTrip trip) {
  trip.work = TileWork::add_index;
  trip.numbers = Numbers::counting;
  return trip;
}

// The example of "Use TMA without CUDA": an 8 x 8 matrix of f32, counted through, in 4 x 4 tiles of
// one CTA each, to whose elements their index in the tile is added; then larger and swizzled
// ones.
std::vector<Op> add_index_rows(const RunContext&) {
  std::vector<Op> rows;
  rows.emplace_back(counted(in_place(map_of(DataType::f32, {8, 8}, {4, 4}))));
  for (const DataType type : {DataType::f32, DataType::u32, DataType::s32}) {
    const TensorMapSpec map = map_of(type, {12, 20}, {4, 5});
    rows.emplace_back(counted(in_place(map)));
    rows.emplace_back(counted(there_and_back(map, map)));
    for (const Swizzle swizzle : kSwizzles) {
      const std::uint32_t inner = swizzle_bytes(swizzle) / 4;
      const TensorMapSpec swizzled = map_of(type, {2 * inner, 18}, {inner, 9}, swizzle);
      rows.emplace_back(counted(in_place(swizzled)));
      TileRoundTrip ring = counted(there_and_back(swizzled, swizzled));
      ring.ctas = 1;
      ring.stages = 2;
      rows.emplace_back(ring);
    }
  }
  return rows;
}

const Register kAddIndex{{
    .name = "scenario.mojo.add_index",
    .claim = "tiles that are loaded, changed by all threads, fenced and stored back leave the old "
             "value plus the index in the tile at each element and nothing anywhere else",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 and 9.7.13.4 fence.proxy.async; Use TMA "
             "without CUDA, Computation",
    .rows = add_index_rows,
}};

TileRoundTrip plus_one(TileRoundTrip trip, std::uint32_t ctas) {
  trip.work = TileWork::add_one;
  trip.numbers = Numbers::small;
  trip.ctas = ctas;
  return trip;
}

// Adds 1 to every element of tensors of every rank, over padded rows and tiles that hang over.
std::vector<Op> add_one_rows(const RunContext&) {
  const std::vector<std::uint64_t> extent{12, 7, 5, 3, 2};
  const std::vector<std::uint32_t> box{4, 3, 2, 2, 1};
  std::vector<Op> rows;
  for (const DataType type : {DataType::f32, DataType::u32, DataType::s32})
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      TensorMapSpec map =
          map_of(type, {extent.begin(), extent.begin() + rank}, {box.begin(), box.begin() + rank});
      rows.emplace_back(plus_one(in_place(map), 1));
      TensorMapSpec padded = map;
      for (std::uint32_t i = 0; i + 1 < rank; ++i)
        padded.stride[i] = (i == 0 ? 80 : padded.stride[i - 1] * map.extent[i]) + 32;
      padded.base_offset = 48;
      rows.emplace_back(plus_one(there_and_back(map, padded), 3));
    }
  return rows;
}

const Register kAddOne{{
    .name = "scenario.mojo.add_one",
    .claim =
        "what all threads added before they fenced is what the store writes, in tensors of any "
        "rank and whatever the padding of their rows",
    .cites = "PTX ISA 9.0, 5.5.3 tiled mode, 9.7.9.25.5.2 and 9.7.13.4; Use TMA without "
             "CUDA, Store",
    .rows = add_one_rows,
}};

}  // namespace
}  // namespace tidemark
