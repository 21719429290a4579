// One test for each documented precondition of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
#include "kernels/virtual/copies/encode.hpp"

#include <fmt/format.h>

namespace tidemark::kernels {
namespace {

constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 32;
constexpr std::uint64_t kStrideBound = std::uint64_t{1} << 40;

std::string refusal_of_dimension(const TensorMapSpec& map, std::uint32_t i) {
  if (map.extent[i] < 1 || map.extent[i] > kMaxExtent)
    return fmt::format("extent {} of dimension {} is outside 1..2^32", map.extent[i], i);
  if (!map.im2col && (map.box[i] < 1 || map.box[i] > 256))
    return fmt::format("box {} of dimension {} is outside 1..256", map.box[i], i);
  // The driver looks at dimension 0, too, where the element stride counts only for interleaved
  // maps.
  if (map.element_stride[i] < 1 || map.element_stride[i] > 8)
    return fmt::format("element stride {} of dimension {} is outside 1..8", map.element_stride[i],
                       i);
  if (i == 0) return {};
  const std::uint64_t stride = map.stride[i - 1];
  if (stride % 16 != 0 || stride >= kStrideBound)
    return fmt::format("stride {} of dimension {} is not a multiple of 16 below 2^40", stride, i);
  return {};
}

// What cuda.h says of interleaved maps, but for the swizzle and its width. The driver takes units
// of 32 bytes without a swizzle, too.
std::string refusal_of_interleave(const TensorMapSpec& map) {
  if (map.im2col) return "an im2col map that is interleaved";
  if (map.rank < 3) return fmt::format("rank {} of an interleaved map is outside 3..5", map.rank);
  if (map.interleave != Interleave::b32) return {};
  if (map.swizzle != Swizzle::b32) return "units of 32 bytes without the swizzle of 32";
  if (map.base_offset % 32 != 0)
    return fmt::format("base offset {} leaves units of 32 bytes off 32", map.base_offset);
  for (std::uint32_t i = 1; i < map.rank && i < kMaxRank; ++i)
    if (map.stride[i - 1] % 32 != 0)
      return fmt::format("stride {} of dimension {} leaves units of 32 bytes off 32",
                         map.stride[i - 1], i);
  return {};
}

std::string refusal_of_pixels(const TensorMapSpec& map) {
  if (map.rank < 3 || map.rank > kMaxRank)
    return fmt::format("rank {} of an im2col map is outside 3..5", map.rank);
  if (map.box[0] < 1 || map.box[0] > 256)
    return fmt::format("{} channels per pixel are outside 1..256", map.box[0]);
  if (map.box[1] < 1 || map.box[1] > 1024)
    return fmt::format("{} pixels per column are outside 1..1024", map.box[1]);
  const std::int32_t lowest = lowest_corner(map.rank), highest = highest_corner(map.rank);
  for (std::uint32_t k = 0; k < spatial_of(map); ++k) {
    const std::int32_t lower = map.lower_corner[k], upper = map.upper_corner[k];
    for (const std::int32_t corner : {lower, upper})
      if (corner < lowest || corner > highest)
        return fmt::format("corner {} of dimension {} is outside {}..{}", corner, k + 1, lowest,
                           highest);
    if (static_cast<std::int64_t>(map.extent[k + 1]) - 1 + upper < lower)
      return fmt::format("the bounding box from {} to {} has no pixel along dimension {}", lower,
                         upper, k + 1);
  }
  return {};
}

}  // namespace

std::string refusal_of(const TensorMapSpec& map) {
  if (map.im2col)
    if (std::string refusal = refusal_of_pixels(map); !refusal.empty()) return refusal;
  if (map.rank < 1 || map.rank > kMaxRank) return fmt::format("rank {} is outside 1..5", map.rank);
  if (map.base_offset % 16 != 0)
    return fmt::format("base offset {} leaves the address off 16 bytes", map.base_offset);
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    std::string refusal = refusal_of_dimension(map, i);
    if (!refusal.empty()) return refusal;
  }
  if (is_interleaved(map))
    if (std::string refusal = refusal_of_interleave(map); !refusal.empty()) return refusal;
  // With interleave, too, where box[0] counts units: so does the driver.
  const std::uint32_t inner = map.box[0] * element_bytes(map.type);
  if (inner % 16 != 0)
    return fmt::format("an inner box row of {} bytes is not a multiple of 16", inner);
  if (!is_interleaved(map) && map.swizzle != Swizzle::none && inner > swizzle_bytes(map.swizzle))
    return fmt::format("an inner box row of {} bytes exceeds the swizzle of {}", inner,
                       swizzle_bytes(map.swizzle));
  if (map.fill == Fill::nan && !is_floating(map.type))
    return fmt::format("NaN fill of {}, which is no floating type", name_of(map.type));
  return {};
}

}  // namespace tidemark::kernels
