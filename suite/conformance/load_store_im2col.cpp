// Copies in im2col mode, legal by construction, with extents that all differ: their builders and
// their cases.
#include "suite/conformance/load_store_im2col.hpp"

#include <algorithm>

#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {

std::uint32_t pixels_along(const TensorMapSpec& map, std::uint32_t k) {
  const std::int64_t box =
      static_cast<std::int64_t>(map.extent[k + 1]) + map.upper_corner[k] - map.lower_corner[k];
  return static_cast<std::uint32_t>((box - 1) / map.element_stride[k + 1] + 1);
}

namespace {

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

namespace {

// All positions of a filter of 3 along each dimension, `dilation` apart.
void append_filter(std::vector<Op>& rows, const TileLoad& load, std::uint32_t dilation) {
  const std::uint32_t spatial = spatial_of(load.map);
  for (std::uint32_t position = 0; position < (spatial == 3   ? 27U
                                               : spatial == 2 ? 9U
                                                              : 3U);
       ++position) {
    TileLoad placed = load;
    std::uint32_t rest = position;
    for (std::uint32_t k = 0; k < spatial; ++k, rest /= 3)
      placed.im2col_offsets[k] = static_cast<std::uint16_t>(rest % 3 * dilation);
    rows.emplace_back(placed);
  }
}

// The loads of convolutions: one for each position of the filter, all pixels of it.
std::vector<Op> conv_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : {DataType::f16, DataType::u8, DataType::f32}) {
    const std::uint32_t channels = elements_in(64, type);
    TileLoad images = im2col_load(type, {2 * channels, 9, 7, 2}, channels, 9 * 7 * 2);
    images.at[0] = static_cast<std::int32_t>(channels);
    append_filter(rows, with_corners(images, -1, -1), 1);  // padding of 1
    images.map.element_stride = {1, 2, 2, 1, 1};
    images.map.box[1] = 5 * 4 * 2;
    append_filter(rows, with_corners(images, -1, -1), 1);
  }
  const TileLoad dilated = im2col_load(DataType::bf16, {64, 11, 6, 2}, 64, 11 * 6 * 2);
  append_filter(rows, with_corners(dilated, -2, -2), 2);
  append_filter(rows, with_corners(im2col_load(DataType::f16, {64, 37, 3}, 32, 100), -1, -1), 1);
  append_filter(rows, with_corners(im2col_load(DataType::u16, {24, 5, 4, 3, 2}, 16, 120), -1, -1),
                1);
  return rows;
}

const Register kConv{{
    .name = "load.im2col.conv",
    .claim =
        "one im2col load for each position of a filter brings what a convolution multiplies by "
        "it: padding of zeros, strides, dilation, image after image",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode; CUDA Driver API, cuTensorMapEncodeIm2col",
    .rows = conv_rows,
}};

// A tensor whose images are longer than the corners of its rank reach.
TileLoad long_images(std::uint32_t rank, std::uint32_t pixels) {
  const std::vector<std::uint64_t> of3{16, 33'000, 1}, of4{16, 150, 140, 1}, of5{16, 20, 19, 18, 1};
  return im2col_load(DataType::u8, rank == 3 ? of3 : rank == 4 ? of4 : of5, 16, pixels);
}

// The most and the fewest pixels and channels, and corners and offsets as far as each rank goes.
std::vector<Op> limits_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t rank = 3; rank <= kMaxRank; ++rank) {
    const std::int32_t lowest = lowest_corner(rank), highest = highest_corner(rank);
    for (const std::uint32_t pixels : {1U, 1023U, 1024U})
      rows.emplace_back(long_images(rank, pixels));
    const TileLoad load = long_images(rank, 90);
    const std::uint32_t to_image = highest_offset(rank) / 2 + 1;
    rows.emplace_back(with_offset(with_corners(load, lowest, highest), to_image));
    rows.emplace_back(with_offset(with_corners(load, lowest, lowest + 1), to_image - 3));
    rows.emplace_back(with_corners(load, highest, 0));
    rows.emplace_back(with_corners(load, 0, lowest));
    for (std::uint32_t less = 0; less < 3; ++less)
      rows.emplace_back(with_offset(with_corners(load, lowest, 0), highest_offset(rank) - less));
    rows.emplace_back(with_offset(load, highest_offset(rank)));
  }
  rows.emplace_back(im2col_load(DataType::u8, {272, 5, 4, 2}, 256, 40));
  rows.emplace_back(im2col_load(DataType::u16, {272, 5, 4, 2}, 256, 40));
  TileLoad beyond = im2col_load(DataType::u8, {48, 5, 4, 2}, 48, 64);  // 24 behind the last mapped
  beyond.source = MemorySource::edge;
  rows.emplace_back(beyond);
  return rows;
}

const Register kLimits{{
    .name = "load.im2col.limits",
    .claim = "columns of 1 to 1024 pixels of up to 256 channels, and corners and offsets up to the "
             "limits of their rank, are loaded as any other",
    .cites = "CUDA Driver API, cuTensorMapEncodeIm2col, pixelBoxLowerCorner, pixelBoxUpperCorner, "
             "channelsPerPixel, pixelsPerColumn; PTX ISA 9.0, 5.5.4.1",
    .rows = limits_rows,
}};

// Im2col loads that are multicast.
std::vector<Op> multicast_rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {32, 500, 2000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t seed = splitmix64(context.seed + i);
    Draws draws(~seed);
    const std::uint32_t size = 1U << draws.between(1, 3);
    rows.emplace_back(multicast(random_im2col(seed), size, draws.between(1, (1U << size) - 1),
                                draws.below(size)));
  }
  return rows;
}

const Register kMulticast{{
    .name = "load.im2col.multicast",
    .claim = "an im2col load reaches every CTA of its mask and no other, and credits each in full, "
             "with and without a cache hint",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.2 cp.async.bulk.tensor, .im2col and .multicast::cluster",
    .rows = multicast_rows,
}};

// Legal im2col loads drawn at random over all that they can vary.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {96, 2000, 8000}, random_im2col);
}

const Register kRandom{{
    .name = "load.im2col.random",
    .claim = "any legal im2col load does what the documents say, however its features meet: pixels "
             "carry from W to H, D and N, and are filled outside of the tensor",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode, 9.7.9.25.5.2 cp.async.bulk.tensor; CUDA Driver API, "
             "cuTensorMapEncodeIm2col",
    .rows = random_rows,
}};

// Pixels as rows of every swizzle, from every phase of it.
std::vector<Op> swizzle_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (const Swizzle swizzle : kSwizzles)
      for (std::uint32_t phase = 0; phase < 8; ++phase) {
        const std::uint32_t channels = elements_in(swizzle_bytes(swizzle), type);
        TileLoad load = with_corners(
            im2col_load(type, {2 * channels - 1, 7, 5, 2}, channels, 9 + 5 * phase), -1, -1);
        load.at[0] = phase % 2 == 0 ? 0 : static_cast<std::int32_t>(channels);
        load.map.swizzle = swizzle;
        load.destination_offset = 128 * phase;
        rows.emplace_back(with_offset(load, phase % 3));
      }
  return rows;
}

const Register kSwizzle{{
    .name = "load.im2col.swizzle",
    .claim = "pixels lie behind each other as the rows of a box do, under every swizzle and from "
             "every phase of it; channels behind the last are filled",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode, 5.5.7 swizzling modes; CUDA Driver API, "
             "cuTensorMapEncodeIm2col",
    .rows = swizzle_rows,
}};

// Legal stores by im2col maps drawn at random over all that they can vary.
std::vector<Op> im2col_random_rows(const RunContext& context) {
  return drawn_rows(context, {64, 1000, 4000}, random_im2col_store);
}

const Register kIm2colRandom{{
    .name = "store.im2col.random",
    .claim =
        "a store by an im2col map writes the pixels of its bounding boxes one after the other, "
        "image after image, and nothing else",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode, 9.7.9.25.5.2 cp.async.bulk.tensor, .im2col_no_offs",
    .rows = im2col_random_rows,
}};

}  // namespace

}  // namespace tidemark
