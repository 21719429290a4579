// The loads of convolutions: one for each position of the filter, all pixels of it.
#include "suite/case.hpp"
#include "suite/conformance/im2col.hpp"

namespace tidemark::suite {
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

std::vector<Op> rows(const RunContext&) {
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

const Register kCase{{
    .name = "load.im2col.conv",
    .claim =
        "one im2col load for each position of a filter brings what a convolution multiplies by "
        "it: padding of zeros, strides, dilation, image after image",
    .cites = "PTX ISA 9.0, 5.5.4 im2col mode; CUDA Driver API, cuTensorMapEncodeIm2col",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
