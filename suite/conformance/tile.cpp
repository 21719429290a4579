// Layouts for tile loads: legal by construction, with extents and strides that all differ.
#include "suite/conformance/tile.hpp"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

std::uint64_t rounded_up(std::uint64_t bytes) { return (bytes + 15) / 16 * 16; }

// Places the box anywhere between wholly below and wholly above the tensor.
void place_at_random(TileLoad& load, Draws& draws) {
  for (std::uint32_t i = 0; i < load.map.rank; ++i) {
    const auto step = static_cast<std::uint32_t>(step_of(load, i));
    const auto reach = static_cast<std::uint32_t>(load.map.extent[i]) + load.map.box[i];
    const auto from_below = static_cast<std::int32_t>(draws.below(reach / step + 1) * step);
    load.at[i] = from_below - static_cast<std::int32_t>(load.map.box[i]);
  }
}

}  // namespace

TileLoad tile(DataType type, const std::vector<std::uint64_t>& extent,
              const std::vector<std::uint32_t>& box, const std::vector<std::int32_t>& at) {
  TileLoad load;
  load.map.type = type;
  load.map.rank = static_cast<std::uint32_t>(extent.size());
  std::copy(extent.begin(), extent.end(), load.map.extent.begin());
  std::copy(box.begin(), box.end(), load.map.box.begin());
  std::copy(at.begin(), at.end(), load.at.begin());
  std::uint64_t stride = rounded_up(extent[0] * element_bytes(type));
  for (std::uint32_t i = 1; i < load.map.rank; ++i) {
    load.map.stride[i - 1] = stride;
    stride *= extent[i];
  }
  return load;
}

std::vector<TileLoad> large_boxes() {
  std::vector<TileLoad> loads{
      tile(DataType::u8, {272, 260}, {256, 256}, {16, 3}),
      tile(DataType::u32, {68, 258, 3}, {64, 256, 2}, {4, 1, 1}),
      tile(DataType::u16, {136, 257, 4}, {128, 256, 3}, {8, 1, 1}),
      tile(DataType::u16, {64, 257, 6}, {64, 256, 5}, {0, 1, 1}),
      tile(DataType::u8, {256, 130, 8}, {256, 127, 7}, {0, 3, 1}),
      tile(DataType::u8, {32, 257, 28}, {32, 256, 27}, {0, 1, 1}),
  };
  loads[3].map.swizzle = Swizzle::b128;
  loads[5].map.swizzle = Swizzle::b32;
  return loads;
}

std::vector<TileLoad> far_strides() {
  constexpr std::uint64_t kBit32 = std::uint64_t{1} << 32, kBit36 = std::uint64_t{1} << 36;
  constexpr std::uint64_t kLongest = (std::uint64_t{1} << 40) - 16;
  std::vector<TileLoad> loads;
  for (const std::uint64_t stride : {kBit32 - 16, kBit32, kBit32 + 16, 2 * kBit32 + 4096, kBit36,
                                     kBit36 + kBit32 + 64, kLongest}) {
    loads.push_back(tile(DataType::u8, {96, 3}, {64, 2}, {16, 1}));
    loads.back().map.stride = {stride};
    loads.push_back(tile(DataType::u16, {64, 9, 3}, {64, 8, 2}, {0, 1, 2}));  // one row hangs over
    loads.back().map.stride = {144, stride};
    loads.back().map.swizzle = Swizzle::b128;
  }
  // Far apart in two dimensions, and in the last of five.
  loads.push_back(tile(DataType::f32, {24, 2, 3}, {16, 2, 2}, {4, 0, 1}));
  loads.back().map.stride = {kBit32 + 48, 3 * kBit32 + 160};
  loads.push_back(tile(DataType::u64, {6, 3, 2, 2, 3}, {4, 2, 2, 1, 2}, {2, 1, 0, 1, 1}));
  loads.back().map.stride[3] = kBit36 + 16;
  for (TileLoad& load : loads) load.source = MemorySource::mapped;
  return loads;
}

std::vector<TileLoad> far_boxes() {
  // Elements along a dimension. A map can have twice as many, which an H200 makes an error of the
  // copy: behaviour.fault.illegal_copies.
  constexpr std::uint64_t kMost = std::uint64_t{1} << 31;
  constexpr std::int32_t kBit29 = 1 << 29, kLast = 0x7fffffff;
  std::vector<TileLoad> loads{
      tile(DataType::u8, {64, kMost}, {64, 8}, {0, kLast - 40}),
      tile(DataType::u64, {kMost}, {64}, {kBit29 + 2}),
      tile(DataType::u64, {kMost}, {64}, {kLast - 255}),
      tile(DataType::u16, {4096, kMost / 2048}, {32, 4}, {8, kBit29 / 1024 + 5}),
      // Across the first 2^32 bytes, and over the end of the tensor in both dimensions.
      tile(DataType::u16, {4096, kMost / 2048}, {32, 4}, {8, kBit29 / 1024 - 2}),
      tile(DataType::u16, {4096, kBit29 / 512 + 3}, {32, 5}, {4080, kBit29 / 512}),
      tile(DataType::u32, {256, 1024, 5000}, {32, 3, 2}, {8, 1000, 4998}),
      tile(DataType::bf16, {64, kBit29 / 16 + 9}, {64, 8}, {0, kBit29 / 16}),
      tile(DataType::u8, {64, 300, 4}, {48, 4, 2}, {16, 290, 1})};
  loads[7].map.stride[0] = 144;
  loads[7].map.swizzle = Swizzle::b128;
  loads[8].map.stride[1] = 34 * kMost + (1 << 20);
  for (TileLoad& load : loads) load.source = MemorySource::mapped;
  return loads;
}

std::vector<TileLoad> at_shared_end() {
  constexpr std::uint32_t kKiB = 1024;
  // What a GPU gives a window at least: 227 KiB less one to align it and one for barriers.
  constexpr std::uint32_t kWindow = 225 * kKiB;
  std::vector<TileLoad> loads;
  // `offset`: of the tile in its window.
  const auto add = [&](std::uint32_t offset, Swizzle swizzle) {
    const std::uint32_t inner = elements_in(128, DataType::u16);
    TileLoad load = tile(DataType::u16, {inner, 19}, {inner, 16}, {0, 2});
    if (swizzle != Swizzle::none)
      load.map.box[0] = elements_in(swizzle_bytes(swizzle), DataType::u16);
    load.map.swizzle = swizzle;
    load.destination_offset = offset - kGuardBytes;
    loads.push_back(load);
  };
  add(64 * kKiB, Swizzle::none);
  add(64 * kKiB - 128, Swizzle::b128);
  add(128 * kKiB - 384, Swizzle::b64);
  add(192 * kKiB - kKiB, Swizzle::b128);
  add(kWindow - kGuardBytes - tile_span(loads.front().map), Swizzle::none);
  // Each swizzle all over the window, at each phase of 128 bytes.
  for (const Swizzle swizzle : kSwizzles)
    for (std::uint32_t i = 0; i < 14; ++i)
      add(kGuardBytes + 16 * kKiB * i + 128 * (i % 8), swizzle);
  return loads;
}

TileLoad tile_of_rank(DataType type, std::uint32_t rank) {
  const std::vector<std::uint64_t> extent{elements_in(176, type), 7, 5, 4, 3};
  const std::vector<std::uint32_t> box{elements_in(64, type), 4, 3, 2, 2};
  const std::vector<std::int32_t> at{inner_step(type), 1, 1, 1, 1};
  return tile(type, {extent.begin(), extent.begin() + rank}, {box.begin(), box.begin() + rank},
              {at.begin(), at.begin() + rank});
}

TileLoad atoms(const GroupedMatrix& matrix, std::uint32_t rows, std::uint32_t groups,
               std::int32_t first_row, std::int32_t first_group) {
  const std::uint32_t bytes = swizzle_bytes(matrix.swizzle);
  const std::uint32_t width = elements_in(bytes, matrix.type);
  TileLoad load = tile(matrix.type, {width, matrix.rows, matrix.groups}, {width, rows, groups},
                       {0, first_row, first_group});
  load.map.stride = {std::uint64_t{bytes} * matrix.groups + matrix.padding, bytes};
  load.map.swizzle = matrix.swizzle;
  return load;
}

std::int32_t step_of(const TileLoad& load, std::uint32_t i) {
  return i == 0 ? inner_step(load.map.type) : 1;
}

std::int32_t highest_inside(const TileLoad& load, std::uint32_t i) {
  return static_cast<std::int32_t>(load.map.extent[i]) - static_cast<std::int32_t>(load.map.box[i]);
}

TileLoad in_corner(TileLoad load, std::uint32_t corner, std::int32_t overhang) {
  for (std::uint32_t i = 0; i < load.map.rank; ++i) {
    const std::int32_t out = overhang * step_of(load, i);
    load.at[i] = (corner >> i & 1U) == 0 ? -out : highest_inside(load, i) + out;
  }
  return load;
}

TileLoad random_tile(std::uint64_t seed) {
  Draws draws(seed);
  const auto type = static_cast<DataType>(draws.below(kDataTypes));
  const auto swizzle = static_cast<Swizzle>(draws.below(4));
  const std::uint32_t rank = draws.between(1, kMaxRank);
  const std::uint32_t inner =
      swizzle == Swizzle::none ? 16 * draws.between(1, 8) : swizzle_bytes(swizzle);
  // By rank: boxes stay below 12 KiB and tensors below 400 KiB, so that rows stay quick.
  constexpr std::uint32_t kHighestBox[kMaxRank] = {1, 64, 9, 4, 3};
  constexpr std::uint32_t kBeyondBox[kMaxRank] = {0, 4, 4, 4, 2};  // elements of the tensor
  std::vector<std::uint64_t> extent{draws.between(1, elements_in(400, type))};
  std::vector<std::uint32_t> box{elements_in(inner, type)};
  for (std::uint32_t i = 1; i < rank; ++i) {
    box.push_back(draws.between(1, kHighestBox[rank - 1]));
    extent.push_back(draws.between(1, box.back() + kBeyondBox[rank - 1]));
  }
  TileLoad load = tile(type, extent, box);
  for (std::uint32_t i = 1; i < rank; ++i) {
    load.map.stride[i - 1] += 16 * draws.below(4);
    if (i + 1 < rank) load.map.stride[i] = load.map.stride[i - 1] * extent[i];
    if (draws.below(3) == 0) load.map.element_stride[i] = draws.between(1, 8);
  }
  load.map.swizzle = swizzle;
  load.map.l2_promotion = static_cast<L2Promotion>(draws.below(4));
  if (is_floating(type) && draws.below(2) == 0) load.map.fill = Fill::nan;
  // Swizzled tensors on 128 bytes, as the stricter of two documents asks.
  load.map.base_offset = (swizzle == Swizzle::none ? 16 : 128) * draws.below(9);
  load.destination_offset = 128 * draws.below(8);
  place_at_random(load, draws);
  load.hint = static_cast<CacheHint>(draws.below(4));
  load.source = static_cast<MemorySource>(draws.below(4));
  load.cold = draws.below(16) == 0;
  return load;
}

// Layouts for tile stores: what loads find legal, and starts that are not negative.

TileStore store_of(const TileLoad& load) {
  TileStore store{.map = load.map, .at = load.at, .source_offset = load.destination_offset};
  store.map.l2_promotion = L2Promotion::none;  // neither says anything to a store
  store.map.fill = Fill::zero;
  for (std::int32_t& at : store.at) at = std::max(at, 0);
  return store;
}

TileStore over_far_end(DataType type, std::uint32_t rank, std::uint32_t dimensions,
                       std::int32_t overhang) {
  TileLoad load = tile_of_rank(type, rank);
  for (std::uint32_t i = 0; i < rank; ++i)
    if ((dimensions >> i & 1U) != 0)
      load.at[i] = highest_inside(load, i) + overhang * step_of(load, i);
  return store_of(load);
}

TileStore ragged_store(DataType type, std::uint32_t rank, std::uint32_t left) {
  const std::uint32_t chunk = elements_in(16, type);
  std::vector<std::uint64_t> extent{2 * chunk + left, 5, 3, 3, 2};
  std::vector<std::uint32_t> box{4 * chunk, 4, 2, 2, 1};
  extent.resize(rank);
  box.resize(rank);
  TileLoad load = tile(type, extent, box);
  for (std::uint32_t i = 1; i < rank; ++i)  // two chunks and more that nothing may reach
    load.map.stride[i - 1] = i == 1 ? 16 * 5 : load.map.stride[i - 2] * extent[i - 1];
  TileStore store = store_of(load);
  store.held_to = HeldTo::measurement;
  return store;
}

TileStore random_store(std::uint64_t seed) {
  const auto drawn = [&](std::uint64_t which, std::uint64_t bound) {
    return static_cast<std::uint32_t>(splitmix64(splitmix64(seed) + which) % bound);
  };
  TileLoad load = random_tile(seed);
  const auto step = static_cast<std::uint64_t>(step_of(load, 0));
  load.map.extent[0] = (load.map.extent[0] + step - 1) / step * step;  // rows of whole 16 bytes
  load.map.element_stride = {1, 1, 1, 1, 1};
  for (std::uint32_t i = 0; i < load.map.rank; ++i) {
    const auto along = static_cast<std::uint32_t>(step_of(load, i));
    load.at[i] = static_cast<std::int32_t>(along * drawn(i, load.map.extent[i] / along + 1));
  }
  TileStore store = store_of(load);
  store.stores = 1 + drawn(10, kMaxStores);
  store.wait = drawn(11, 2) == 0 ? StoreWait::complete : StoreWait::read;
  if (drawn(12, 2) == 0) store.empty_groups = drawn(13, 2U << store.stores);
  store.bystander = drawn(14, 4) == 0;
  store.hint = static_cast<CacheHint>(drawn(15, 4));
  store.destination = static_cast<MemorySource>(drawn(16, 4));
  return store;
}

// Multicasts: legal by construction.

MulticastLoad multicast(const TileLoad& load, std::uint32_t size, std::uint32_t mask,
                        std::uint32_t issuer) {
  return {.load = load,
          .cluster = {size, 1, 1},
          .mask = static_cast<std::uint16_t>(mask),
          .issuer = issuer};
}

TileLoad small_box() { return tile(DataType::u16, {88, 13}, {32, 8}, {16, 3}); }

std::vector<Op> all_masks_and_issuers(std::uint32_t size) {
  std::vector<Op> rows;
  for (std::uint32_t mask = 1; mask < 1U << size; ++mask)
    for (std::uint32_t issuer = 0; issuer < size; ++issuer)
      rows.emplace_back(multicast(small_box(), size, mask, issuer));
  return rows;
}

MulticastLoad random_multicast(std::uint64_t seed) {
  constexpr std::array<std::array<std::uint32_t, 3>, 8> kClusters{
      {{2, 1, 1}, {4, 1, 1}, {8, 1, 1}, {1, 2, 1}, {1, 4, 2}, {2, 2, 1}, {2, 2, 2}, {1, 1, 8}}};
  Draws draws(~seed);
  MulticastLoad drawn{.load = random_tile(seed), .cluster = kClusters[draws.below(8)]};
  const std::uint32_t size = cluster_size(drawn);
  drawn.mask = static_cast<std::uint16_t>(1 + draws.below((1U << size) - 1));
  drawn.issuer = draws.below(size);
  drawn.late_arm = draws.below(4) == 0;
  if (draws.below(2) == 0) {
    drawn.slices = size;
    while (drawn.slices > 1 && refusal_of(drawn) != nullptr) drawn.slices /= 2;
  }
  return drawn;
}

// Maps and walks for round trips.

TensorMapSpec map_of(DataType type, const std::vector<std::uint64_t>& extent,
                     const std::vector<std::uint32_t>& box, Swizzle swizzle) {
  TensorMapSpec map = tile(type, extent, box).map;
  map.swizzle = swizzle;
  return map;
}

TileWalk cover(const TensorMapSpec& map) {
  TileWalk walk;
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    walk.step[i] = static_cast<std::int32_t>(map.box[i]);
    walk.tiles[i] = static_cast<std::uint32_t>((map.extent[i] + map.box[i] - 1) / map.box[i]);
  }
  return walk;
}

TileRoundTrip there_and_back(const TensorMapSpec& from, const TensorMapSpec& to) {
  TileRoundTrip trip{
      .from = from, .to = to, .load = cover(from), .store = cover(to), .payload = {}};
  trip.ctas = std::min(tiles_of(trip.load), kTripCtas);
  return trip;
}

TileRoundTrip in_place(const TensorMapSpec& map) {
  TileRoundTrip trip = there_and_back(map, map);
  trip.in_place = true;
  return trip;
}

// Atom layouts over a row-major matrix: dimension 2 steps along the row by one group.

TileRead atom_read(DataType type, Swizzle swizzle, std::uint32_t row_bytes, std::uint32_t rows,
                   std::uint32_t groups) {
  const std::uint32_t group = swizzle == Swizzle::none ? row_bytes : swizzle_bytes(swizzle);
  const std::uint32_t inner = elements_in(group, type);
  TileLoad load = tile(type, {inner, rows + 5, groups + 1}, {inner, rows, groups}, {0, 3, 1});
  load.map.stride[0] = std::uint64_t{group} * (groups + 1) + 16;  // rows of the matrix, padded
  load.map.stride[1] = group;
  load.map.swizzle = swizzle;
  return {.load = load};
}

// The boxes of the mismatch cases.

std::vector<TileLoad> mismatch_boxes() {
  TileLoad swizzled = tile(DataType::bf16, {192, 21}, {64, 16}, {64, 3});  // 2 KiB
  swizzled.map.swizzle = Swizzle::b128;
  swizzled.destination_offset = 384;
  TileLoad beyond = tile_of_rank(DataType::u32, 2);
  beyond.at = {1024, 1000, 0, 0, 0};
  return {
      tile(DataType::u8, {700}, {256}, {48}),             // rank 1
      tile(DataType::u16, {96, 13}, {32, 8}, {16, 2}),    // rank 2
      in_corner(tile_of_rank(DataType::f32, 3), 5, 1),    // rank 3, over a corner
      swizzled,                                           // a pattern, not at its start
      beyond,                                             // nothing but fill
      tile(DataType::u8, {160, 70}, {128, 64}, {16, 5}),  // 8 KiB, many credits
  };
}

ExpectTx announce(const TileLoad& load, std::uint32_t announced) {
  ExpectTx op;
  op.load = load;
  op.announced = announced;
  return op;
}

ExpectTx announce_exactly(const TileLoad& load) { return announce(load, tile_bytes(load.map)); }

}  // namespace tidemark
