// Units, slices and steps of interleaved maps.
#include "suite/oracle/place/interleave.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark::suite {

std::uint32_t bytes_counted(const TensorMapSpec& map) {
  switch (map.interleave) {
    case Interleave::b16:
      return 16;
    case Interleave::b32:
      return 32;
    case Interleave::none:
      break;
  }
  return element_bytes(map.type);
}

std::uint32_t reach_along(const TensorMapSpec& map, std::uint32_t i) {
  const bool slice = map.interleave != Interleave::none && i == map.rank - 2;
  return slice ? 1 : map.box[i];
}

std::uint32_t step_along(const TensorMapSpec& map, std::uint32_t i) {
  return i == 0 && map.interleave == Interleave::none ? 1 : map.element_stride[i];
}

std::uint32_t taken_along(const TensorMapSpec& map, std::uint32_t i) {
  return (reach_along(map, i) - 1) / step_along(map, i) + 1;
}

void refuse_interleave(const TensorMapSpec& map, HeldTo held_to) {
  if (map.interleave == Interleave::none) return;
  if (held_to != HeldTo::measurement)
    throw Error(
        "interleave: no document says what a copy by an interleaved map moves; hold the row to "
        "what was measured");
  if (map.im2col) throw Error("interleave: an im2col map; take a tiled one");
}

void refuse_part_of_swizzle(const TensorMapSpec& map, std::uint32_t first, std::uint32_t bytes) {
  if (map.interleave == Interleave::none || map.swizzle == Swizzle::none) return;
  const std::uint32_t atom = swizzle_bytes(map.swizzle), end = first + bytes;
  const bool exchanged = end / 128 % (atom / 16) != 0;  // in the row of 128 bytes in which it ends
  if (end % atom != 0 && exchanged)
    throw Error(
        fmt::format("interleave: a tile of {} bytes that ends within {} bytes which its swizzle "
                    "exchanges; take "
                    "a multiple of them",
                    bytes, atom));
}

}  // namespace tidemark::suite
