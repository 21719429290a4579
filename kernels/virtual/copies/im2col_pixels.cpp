// Walks over pixels by carrying, with the faults that change a step of it.
#include "kernels/virtual/copies/im2col_pixels.hpp"

#include <algorithm>

#include "kernels/virtual/copies/faults/im2col_faults.hpp"

namespace tidemark {
namespace {

using Coordinates = std::array<std::int64_t, kMaxRank>;

// The bounding box along W, H and D: the first pixel of it, and the last.
struct PixelBox {
  std::array<std::int64_t, kMaxSpatial> first{}, last{};
};

PixelBox box_of(const TensorMapSpec& map, const TileGeometry& tile) {
  TensorMapSpec taken = map;
  if (tile.fault == kFaultIm2colCornersReversed)
    for (auto* const corners : {&taken.lower_corner, &taken.upper_corner})
      std::reverse(corners->begin(), corners->begin() + spatial_of(map));
  PixelBox box;
  for (std::uint32_t k = 0; k < spatial_of(map); ++k) {
    box.first[k] = tile.fault == kFaultIm2colLowerIgnored ? 0 : taken.lower_corner[k];
    box.last[k] = static_cast<std::int64_t>(map.extent[k + 1]) - 1 + taken.upper_corner[k];
    if (tile.fault == kFaultIm2colCarryEarly) --box.last[k];
    if (tile.fault == kFaultIm2colCarryLate) ++box.last[k];
    if (tile.fault == kFaultIm2colUpperIgnored) box.last[k] -= taken.upper_corner[k];
  }
  return box;
}

void advance(Coordinates& pixel, const PixelBox& box, const TensorMapSpec& map,
             const TileGeometry& tile) {
  const std::uint32_t spatial = spatial_of(map);
  for (std::uint32_t k = 0; k < spatial; ++k) {
    pixel[k + 1] += tile.fault == kFaultIm2colStrideIgnored ? 1 : tile.step[k + 1];
    if (pixel[k + 1] <= box.last[k]) return;
    pixel[k + 1] = box.first[k];
  }
  if (tile.fault != kFaultIm2colBatchStays) ++pixel[spatial + 1];
}

Coordinates with_offsets(Coordinates pixel, const TileLoad& load, const TileGeometry& tile) {
  const std::uint32_t spatial = spatial_of(load.map);
  auto offsets = load.im2col_offsets;
  if (tile.fault == kFaultIm2colOffsetsReversed)
    std::reverse(offsets.begin(), offsets.begin() + spatial);
  for (std::uint32_t k = 0; k < spatial; ++k) {
    if (tile.fault == kFaultIm2colOffsetsIgnored) offsets[k] = 0;
    if (tile.fault == kFaultIm2colOffsetsShort)
      offsets[k] = static_cast<std::uint16_t>(offsets[k] & highest_offset(load.map.rank) / 2);
    pixel[k + 1] += offsets[k];
    if (tile.fault == kFaultIm2colClamped)
      pixel[k + 1] = std::clamp<std::int64_t>(pixel[k + 1], 0, tile.extent[k + 1] - 1);
  }
  return pixel;
}

}  // namespace

std::vector<std::array<std::int64_t, kMaxRank>> im2col_pixels(const TileLoad& load,
                                                              const TileGeometry& tile) {
  const PixelBox box = box_of(load.map, tile);
  std::vector<Coordinates> pixels;
  Coordinates pixel = tile.first;
  for (std::uint32_t p = 0; p < tile.count[1]; ++p) {
    pixels.push_back(with_offsets(pixel, load, tile));
    advance(pixel, box, load.map, tile);
  }
  return pixels;
}

bool takes_channel(const TileGeometry& tile, std::int64_t channel) {
  return tile.fault == kFaultIm2colChannelsRunOn && !tile.pixels.empty() && channel >= 0;
}

}  // namespace tidemark
