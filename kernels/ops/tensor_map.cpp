// Each documented precondition of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col as a sentence.
#include "kernels/ops/tensor_map.hpp"

#include <fmt/format.h>

namespace tidemark {
namespace {

constexpr std::uint64_t kMaxExtent = std::uint64_t{1} << 32;
constexpr std::uint64_t kStrideBound = std::uint64_t{1} << 40;

std::string refused(std::string_view what, std::string_view taken) {
  return fmt::format("{}; cuTensorMapEncode takes {}", what, taken);
}

std::string of_dimension(std::string_view what, auto value, std::uint32_t i) {
  return fmt::format("{} {} of dimension {}", what, value, i);
}

// Of interleaved maps. The driver takes units of 32 bytes without a swizzle, too.
std::string refusal_of_units(const TensorMapSpec& map) {
  if (map.im2col) return "an im2col map that is interleaved; take one of both";
  if (map.interleave != Interleave::b32) return {};
  constexpr std::string_view kOn32 = "multiples of 32 where units have 32 bytes";
  if (map.swizzle != Swizzle::b32)
    return refused(fmt::format("a swizzle of {}", swizzle_bytes(map.swizzle)),
                   "that of 32 where units have 32 bytes");
  if (map.base_offset % 32 != 0)
    return refused(fmt::format("base_offset {}", map.base_offset), kOn32);
  for (std::uint32_t i = 1; i < map.rank; ++i)
    if (map.stride[i - 1] % 32 != 0)
      return refused(of_dimension("stride", map.stride[i - 1], i), kOn32);
  return {};
}

std::string refusal_of_corners(const TensorMapSpec& map) {
  const std::int32_t lowest = lowest_corner(map.rank), highest = highest_corner(map.rank);
  for (std::uint32_t k = 0; k < spatial_of(map); ++k) {
    const std::int32_t lower = map.lower_corner[k], upper = map.upper_corner[k];
    for (const std::int32_t corner : {lower, upper})
      if (corner < lowest || corner > highest)
        return refused(of_dimension("corner", corner, k + 1),
                       fmt::format("{} to {}", lowest, highest));
    if (static_cast<std::int64_t>(map.extent[k + 1]) - 1 + upper < lower)
      return refused(
          fmt::format("a bounding box from {} to {} along dimension {}", lower, upper, k + 1),
          "one that has a pixel");
  }
  return {};
}

}  // namespace

std::string refusal_of_sizes(const TensorMapSpec& map) {
  const bool is_high = map.im2col || is_interleaved(map);
  if (map.rank < (is_high ? 3U : 1U) || map.rank > kMaxRank)
    return refused(fmt::format("rank {}", map.rank),
                   is_high ? "3 to 5 with interleave or im2col" : "1 to 5");
  if (map.im2col && (map.box[0] < 1 || map.box[0] > 256))
    return refused(fmt::format("{} channels per pixel", map.box[0]), "1 to 256");
  if (map.im2col && (map.box[1] < 1 || map.box[1] > 1024))
    return refused(fmt::format("{} pixels per column", map.box[1]), "1 to 1024");
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    if (map.extent[i] < 1 || map.extent[i] > kMaxExtent)
      return refused(of_dimension("extent", map.extent[i], i), "1 to 2^32");
    if (!map.im2col && (map.box[i] < 1 || map.box[i] > 256))
      return refused(of_dimension("box", map.box[i], i), "1 to 256");
    // The driver looks at dimension 0, too, where the element stride counts only for interleaved
    // maps.
    if (map.element_stride[i] < 1 || map.element_stride[i] > 8)
      return refused(of_dimension("element stride", map.element_stride[i], i), "1 to 8");
  }
  return {};
}

std::string refusal_of(const TensorMapSpec& map) {
  if (std::string refusal = refusal_of_sizes(map); !refusal.empty()) return refusal;
  if (map.base_offset % 16 != 0)
    return refused(fmt::format("base_offset {}", map.base_offset), "multiples of 16");
  for (std::uint32_t i = 1; i < map.rank; ++i)
    if (map.stride[i - 1] % 16 != 0 || map.stride[i - 1] >= kStrideBound)
      return refused(of_dimension("stride", map.stride[i - 1], i), "multiples of 16 below 2^40");
  if (map.im2col)
    if (std::string refusal = refusal_of_corners(map); !refusal.empty()) return refusal;
  if (is_interleaved(map))
    if (std::string refusal = refusal_of_units(map); !refusal.empty()) return refusal;
  // With interleave, too, where box[0] counts units: so does the driver.
  const std::uint32_t inner = map.box[0] * element_bytes(map.type);
  const std::string row = fmt::format("an inner box row of {} bytes", inner);
  if (inner % 16 != 0) return refused(row, "multiples of 16");
  if (!is_interleaved(map) && map.swizzle != Swizzle::none && inner > swizzle_bytes(map.swizzle))
    return refused(row, fmt::format("at most its swizzle's {}", swizzle_bytes(map.swizzle)));
  if (map.fill == Fill::nan && !is_floating(map.type))
    return refused(fmt::format("NaN fill of {}", name_of(map.type)), "that of floating types");
  return {};
}

}  // namespace tidemark
