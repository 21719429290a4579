// Loads in im2col mode.
#include "suite/case.hpp"
#include "suite/conformance/im2col.hpp"
#include "suite/conformance/multicast_row.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
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

}  // namespace
}  // namespace tidemark
