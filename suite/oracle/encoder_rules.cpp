// Which tensor maps there can be, as the oracle knows it: apart from the rules of the devices.
#include "suite/oracle/encoder_rules.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>

#include "kernels/error.hpp"

namespace tidemark {
namespace {

using Spec = const TensorMapSpec&;
using Number = std::int64_t;

enum class Of : std::uint8_t { map, all, outer, image };  // dimensions

struct Rule {
  std::string_view parameter;  // of cuda.h
  std::string_view value;
  std::string_view takes;
  Of of;
  Number (*read)(Spec, std::uint32_t);
  bool (*allows)(Spec, Number);
};

bool of_32(Spec map) { return map.interleave == Interleave::b32; }

Number bounded(std::uint64_t value) {
  return static_cast<Number>(std::min(value, std::uint64_t{1} << 62));
}
Number rank(Spec map, std::uint32_t) { return map.rank; }
Number base(Spec map, std::uint32_t) { return map.base_offset; }
Number extent(Spec map, std::uint32_t i) { return bounded(map.extent[i]); }
Number stride(Spec map, std::uint32_t i) { return bounded(map.stride[i - 1]); }
Number box(Spec map, std::uint32_t i) { return map.box[i]; }
Number pixels(Spec map, std::uint32_t) { return map.box[1]; }
Number inner(Spec map, std::uint32_t) { return Number{map.box[0]} * element_bytes(map.type); }
Number step(Spec map, std::uint32_t i) { return map.element_stride[i]; }
Number swizzle(Spec map, std::uint32_t) { return swizzle_bytes(map.swizzle); }
Number type(Spec map, std::uint32_t) { return static_cast<Number>(map.type); }
Number lower(Spec map, std::uint32_t i) { return map.lower_corner[i - 1]; }
Number upper(Spec map, std::uint32_t i) { return map.upper_corner[i - 1]; }
Number across(Spec map, std::uint32_t i) { return extent(map, i) + upper(map, i) - lower(map, i); }

template <Number kMost>
bool up_to(Spec, Number value) {
  return value >= 1 && value <= kMost;
}
bool legal_rank(Spec map, Number value) {
  return value >= (map.im2col || map.interleave != Interleave::none ? 3 : 1) && value <= kMaxRank;
}
bool on_16(Spec, Number value) { return value % 16 == 0; }
bool on_32(Spec map, Number value) { return !of_32(map) || value % 32 == 0; }
bool legal_stride(Spec, Number value) { return value % 16 == 0 && value < Number{1} << 40; }
bool legal_box(Spec map, Number value) { return map.im2col || up_to<256>(map, value); }
bool legal_channels(Spec map, Number value) { return !map.im2col || up_to<256>(map, value); }
bool legal_pixels(Spec map, Number value) { return !map.im2col || up_to<1024>(map, value); }
bool in_swizzle(Spec map, Number value) {
  const bool swizzled = map.interleave == Interleave::none && map.swizzle != Swizzle::none;
  return !swizzled || value <= swizzle(map, 0);
}
bool swizzle_of_32(Spec map, Number value) { return !of_32(map) || value == 32; }
bool can_be_nan(Spec map, Number) { return map.fill != Fill::nan || is_floating(map.type); }
bool legal_corner(Spec map, Number value) {
  const Number end = map.rank == 3 ? 32768 : map.rank == 4 ? 128 : 16;
  return !map.im2col || (value >= -end && value < end);
}
bool has_pixel(Spec map, Number value) { return !map.im2col || value >= 1; }

constexpr std::string_view kExtents =
    "1 to 2^32, of which H200s end the process above 2^31; take up to that";

constexpr Rule kRules[] = {
    {"tensorRank", "rank", "1 to 5, from 3 on with interleave or im2col", Of::map, rank,
     legal_rank},
    {"globalAddress", "base_offset", "multiples of 16", Of::map, base, on_16},
    {"globalAddress", "base_offset", "multiples of 32 for units of 32", Of::map, base, on_32},
    {"globalDim", "extent", kExtents, Of::all, extent, up_to<Number{1} << 31>},
    {"globalStrides", "stride", "multiples of 16 below 2^40", Of::outer, stride, legal_stride},
    {"globalStrides", "stride", "multiples of 32 for units of 32", Of::outer, stride, on_32},
    {"boxDim", "box", "1 to 256", Of::all, box, legal_box},
    {"boxDim", "inner box bytes", "multiples of 16", Of::map, inner, on_16},
    {"channelsPerPixel", "channels", "1 to 256", Of::map, box, legal_channels},
    {"pixelsPerColumn", "pixels", "1 to 1024", Of::map, pixels, legal_pixels},
    {"elementStrides", "element stride", "1 to 8", Of::all, step, up_to<8>},
    {"interleave", "inner box bytes", "those of the swizzle at most", Of::map, inner, in_swizzle},
    {"swizzle", "swizzle of", "that of 32 for units of 32", Of::map, swizzle, swizzle_of_32},
    {"oobFill", "NaN fill of data type", "that of floating ones", Of::map, type, can_be_nan},
    {"pixelBoxLowerCorner", "lower corner", "what its bits hold", Of::image, lower, legal_corner},
    {"pixelBoxUpperCorner", "upper corner", "what its bits hold", Of::image, upper, legal_corner},
    {"pixelBoxUpperCorner", "bounding box pixels", "1 and up", Of::image, across, has_pixel},
};

}  // namespace

void refuse_illegal_map(const TensorMapSpec& map, std::string_view place) {
  if (map.bulk) return;
  for (const Rule& rule : kRules) {
    const std::uint32_t behind = rule.of == Of::map ? 1 : map.rank - (rule.of == Of::image ? 1 : 0);
    for (std::uint32_t i = rule.of <= Of::all ? 0 : 1; i < behind; ++i)
      if (const Number value = rule.read(map, i); !rule.allows(map, value))
        throw Error(fmt::format("{}{} {}{}; cuda.h, {}, takes {}", place, rule.value, value,
                                rule.of == Of::map ? "" : fmt::format(" of dimension {}", i),
                                rule.parameter, rule.takes));
  }
}

}  // namespace tidemark
