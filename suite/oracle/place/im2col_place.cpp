// Numbers the pixels of all bounding boxes and takes numbers apart again.
#include "suite/oracle/place/im2col_place.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark::suite {
namespace {

// One dimension of the images: W, H or D.
struct Axis {
  std::int64_t first = 0;   // pixel of the bounding box
  std::int64_t behind = 0;  // its last
  std::int64_t stride = 1;

  std::int64_t count() const { return (behind - first - 1) / stride + 1; }
};

Axis axis_of(const TensorMapSpec& map, std::uint32_t k) {
  return {.first = map.lower_corner[k],
          .behind = static_cast<std::int64_t>(map.extent[k + 1]) + map.upper_corner[k],
          .stride = map.element_stride[k + 1]};
}

// Of a pixel of a bounding box, on its traversal strides.
template <class Coordinate>
std::int64_t number_of(const TensorMapSpec& map, const std::array<Coordinate, kMaxRank>& pixel) {
  const std::uint32_t batch = map.rank - 1;
  std::int64_t number = pixel[batch];
  for (std::uint32_t i = batch - 1; i >= 1; --i) {
    const Axis axis = axis_of(map, i - 1);
    number = number * axis.count() + (pixel[i] - axis.first) / axis.stride;
  }
  return number;
}

}  // namespace

TilePlace im2col_element_at(const TileLoad& load, std::uint32_t byte) {
  const TensorMapSpec& map = load.map;
  const std::uint32_t size = element_bytes(map.type), batch = map.rank - 1;
  const std::uint32_t pixel_bytes = map.box[0] * size;
  const std::uint32_t to_next = std::max(pixel_bytes, swizzle_bytes(map.swizzle));
  if (byte % to_next >= pixel_bytes) return {.gap = true};
  TilePlace place{.byte = byte % size};
  place.element[0] = load.at[0] + std::int64_t{byte % to_next / size};
  std::int64_t number = number_of(map, load.at) + byte / to_next;
  for (std::uint32_t i = 1; i < batch; ++i) {
    const Axis axis = axis_of(map, i - 1);
    place.element[i] =
        axis.first + number % axis.count() * axis.stride + load.im2col_offsets[i - 1];
    number /= axis.count();
  }
  place.element[batch] = number;
  place.inside = true;
  for (std::uint32_t i = 0; i <= batch; ++i)
    if (place.element[i] < 0 || place.element[i] >= static_cast<std::int64_t>(map.extent[i]))
      place.inside = false;
  if (!place.inside) return place;
  place.source_offset = kGuardBytes + map.base_offset + place.byte +
                        static_cast<std::uint64_t>(place.element[0]) * size;
  for (std::uint32_t i = 1; i <= batch; ++i)
    place.source_offset += static_cast<std::uint64_t>(place.element[i]) * map.stride[i - 1];
  return place;
}

void refuse_undocumented_pixels(const TileLoad& load) {
  const TensorMapSpec& map = load.map;
  const std::uint32_t batch = map.rank - 1;
  if (map.element_stride[0] != 1 || map.element_stride[batch] != 1)
    throw Error("im2col: a traversal stride along C or N has no prediction; take 1");
  if (load.at[0] < 0 || load.at[batch] < 0)
    throw Error(
        fmt::format("im2col: channel {} of image {}; take 0 and up", load.at[0], load.at[batch]));
  for (std::uint32_t i = 1; i < batch; ++i) {
    const Axis axis = axis_of(map, i - 1);
    // Where the walk begins off its grid, nothing says which pixels come behind the carry.
    if (load.at[i] < axis.first || load.at[i] >= axis.behind ||
        (load.at[i] - axis.first) % axis.stride != 0)
      throw Error(fmt::format(
          "im2col: first pixel {} of dimension {}; take one of the bounding box, on its "
          "traversal stride",
          load.at[i], i));
    if (load.im2col_offsets[i - 1] > highest_offset(map.rank))
      throw Error(fmt::format("im2col: offset {}; take at most {}", load.im2col_offsets[i - 1],
                              highest_offset(map.rank)));
  }
}

}  // namespace tidemark::suite
