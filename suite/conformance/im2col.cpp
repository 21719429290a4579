// Layouts for im2col loads: legal by construction, with extents that all differ.
#include "suite/conformance/im2col.hpp"

#include <algorithm>

namespace tidemark {
namespace {

// Pixels of the bounding box along W, H or D.
std::uint32_t pixels_along(const TensorMapSpec& map, std::uint32_t k) {
  const std::int64_t box =
      static_cast<std::int64_t>(map.extent[k + 1]) + map.upper_corner[k] - map.lower_corner[k];
  return static_cast<std::uint32_t>((box - 1) / map.element_stride[k + 1] + 1);
}

// Bounding boxes with a pixel at least; in one of six they begin as far out as they can.
void take_corners(TensorMapSpec& map, Draws& draws) {
  const bool far = map.rank > 3 && draws.below(6) == 0;
  for (std::uint32_t k = 0; k < spatial_of(map); ++k) {
    const auto extent = static_cast<std::int32_t>(map.extent[k + 1]);
    const std::int32_t lower =
        far ? lowest_corner(map.rank) : static_cast<std::int32_t>(draws.below(7)) - 3;
    const std::int32_t upper = static_cast<std::int32_t>(draws.below(6)) - 3;
    map.lower_corner[k] = lower;
    map.upper_corner[k] = std::max(upper, lower + 1 - extent);
  }
}

// Bounding boxes in the images.
void take_inner_corners(TensorMapSpec& map, Draws& draws) {
  for (std::uint32_t k = 0; k < spatial_of(map); ++k) {
    const auto extent = static_cast<std::uint32_t>(map.extent[k + 1]);
    const std::uint32_t lower = draws.below(std::min(3U, extent));
    const std::uint32_t upper = draws.below(std::min(3U, extent - lower));
    map.lower_corner[k] = static_cast<std::int32_t>(lower);
    map.upper_corner[k] = -static_cast<std::int32_t>(upper);
  }
}

}  // namespace

TileLoad im2col_load(DataType type, const std::vector<std::uint64_t>& extent,
                     std::uint32_t channels, std::uint32_t pixels) {
  TileLoad load = tile(type, extent, {channels, pixels});
  load.map.im2col = true;
  return load;
}

TileLoad with_corners(TileLoad load, std::int32_t lower, std::int32_t upper) {
  for (std::uint32_t k = 0; k < spatial_of(load.map); ++k) {
    load.map.lower_corner[k] = load.at[k + 1] = lower;
    load.map.upper_corner[k] = upper;
  }
  return load;
}

TileLoad with_offset(TileLoad load, std::uint32_t offset) {
  for (std::uint32_t k = 0; k < spatial_of(load.map); ++k)
    load.im2col_offsets[k] = static_cast<std::uint16_t>(offset);
  return load;
}

void place_pixels(TileLoad& load, Draws& draws) {
  const TensorMapSpec& map = load.map;
  const std::uint32_t batch = map.rank - 1;
  load.at[0] = inner_step(map.type) *
               static_cast<std::int32_t>(draws.below(
                   static_cast<std::uint32_t>(map.extent[0]) / elements_in(16, map.type) + 1));
  load.at[batch] =
      static_cast<std::int32_t>(draws.below(static_cast<std::uint32_t>(map.extent[batch])));
  const bool first = draws.below(2) == 0;  // pixels of the box: offsets are large there
  for (std::uint32_t k = 0; k < spatial_of(map); ++k) {
    const std::uint32_t count = pixels_along(map, k);
    const std::uint32_t pixel = draws.below(first ? std::min(count, 3U) : count);
    load.at[k + 1] =
        map.lower_corner[k] + static_cast<std::int32_t>(pixel * map.element_stride[k + 1]);
    const auto near =
        static_cast<std::int32_t>(draws.below(static_cast<std::uint32_t>(map.extent[k + 1]) + 2)) -
        1;
    load.im2col_offsets[k] = static_cast<std::uint16_t>(
        std::clamp(near - load.at[k + 1], 0, static_cast<std::int32_t>(highest_offset(map.rank))));
  }
}

TileLoad random_im2col(std::uint64_t seed) {
  Draws draws(splitmix64(seed ^ 0x1a2c));
  const auto type = static_cast<DataType>(draws.below(kDataTypes));
  const auto swizzle = static_cast<Swizzle>(draws.below(4));
  const std::uint32_t rank = draws.between(3, kMaxRank);
  const std::uint32_t inner =
      swizzle == Swizzle::none ? 16 * draws.between(1, 8) : swizzle_bytes(swizzle);
  constexpr std::uint32_t kLongest[] = {40, 9, 6};  // of an image, by rank
  constexpr std::uint32_t kTile = 12 << 10;         // bytes, so that rows stay quick
  std::vector<std::uint64_t> extent{draws.between(1, elements_in(176, type))};
  for (std::uint32_t i = 1; i + 1 < rank; ++i)
    extent.push_back(draws.between(1, kLongest[rank - 3]));
  extent.push_back(draws.between(1, 4));
  TileLoad load = im2col_load(type, extent, elements_in(inner, type),
                              draws.between(1, std::min(192U, kTile / inner)));
  for (std::uint32_t i = 1; i < rank; ++i) {
    load.map.stride[i - 1] += 16 * draws.below(3);
    if (i + 1 < rank) load.map.stride[i] = load.map.stride[i - 1] * extent[i];
    if (i + 1 < rank && draws.below(2) == 0) load.map.element_stride[i] = draws.between(1, 3);
  }
  load.map.swizzle = swizzle;
  load.map.l2_promotion = static_cast<L2Promotion>(draws.below(4));
  if (is_floating(type) && draws.below(2) == 0) load.map.fill = Fill::nan;
  load.map.base_offset = (swizzle == Swizzle::none ? 16 : 128) * draws.below(9);
  load.destination_offset = 128 * draws.below(8);
  take_corners(load.map, draws);
  place_pixels(load, draws);
  load.hint = static_cast<CacheHint>(draws.below(4));
  load.source = static_cast<MemorySource>(draws.below(4));
  load.cold = draws.below(16) == 0;
  return load;
}

TileStore random_im2col_store(std::uint64_t seed) {
  Draws draws(splitmix64(~seed));
  TileLoad load = random_im2col(seed);
  const auto step = static_cast<std::uint64_t>(step_of(load, 0));
  load.map.extent[0] = (load.map.extent[0] + step - 1) / step * step;  // pixels of whole 16 bytes
  load.map.element_stride = {1, 1, 1, 1, 1};  // which documents give to loads alone
  take_inner_corners(load.map, draws);
  place_pixels(load, draws);
  TileStore store = store_of(load);
  store.wait = draws.below(2) == 0 ? StoreWait::complete : StoreWait::read;
  store.hint = static_cast<CacheHint>(draws.below(4));
  store.destination = static_cast<MemorySource>(draws.below(4));
  return store;
}

}  // namespace tidemark
