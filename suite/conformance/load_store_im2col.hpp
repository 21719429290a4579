// Builds im2col loads in few words, so that a case file shows only what it varies.
#pragma once

#include <cstdint>
#include <vector>

#include "suite/conformance/tile.hpp"

namespace tidemark {

/// A load of `pixels` pixels of `channels` channels from the first of a tensor of `extent`: C, W, H
/// and D as far as there are, N. The bounding box is the image.
TileLoad im2col_load(DataType type, const std::vector<std::uint64_t>& extent,
                     std::uint32_t channels, std::uint32_t pixels);

/// The same corners along W, H and D, and the load from the first pixel of the bounding box on.
TileLoad with_corners(TileLoad load, std::int32_t lower, std::int32_t upper);

/// The same offset along W, H and D.
TileLoad with_offset(TileLoad load, std::uint32_t offset);

/// Pixels of the bounding box along W, H or D.
std::uint32_t pixels_along(const TensorMapSpec& map, std::uint32_t k);

/// Another first pixel of the load's map, and offsets that come near the image from there.
void place_pixels(TileLoad& load, Draws& draws);

/// A legal im2col load of any rank, type, swizzle, fill, hint, source, corners, traversal strides
/// and offsets; a function of `seed` alone. Corners differ along W, H and D only where their order
/// is settled.
TileLoad random_im2col(std::uint64_t seed);

/// A legal store by an im2col map, from any pixel of a bounding box in its images; a function of
/// `seed` alone.
TileStore random_im2col_store(std::uint64_t seed);

}  // namespace tidemark
