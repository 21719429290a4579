// Which element of a tensor belongs at a place of the shared window: the pull-style half of the
// tile-load oracle, used to predict and to explain.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/tile_load.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// An element of the box, as found from a place in the shared window.
struct TilePlace {
  std::array<std::int64_t, kMaxRank> element{};  // tensor coordinates; zeros past the rank
  bool inside = false;                           // of the tensor
  bool gap = false;                              // none: behind a row narrower than the swizzle
  std::uint32_t byte = 0;                        // of the element, 0 for its first
  std::uint64_t source_offset = 0;  // in the source allocation, of that byte; only if `inside`
};

/// The first byte of the tile in the shared window.
constexpr std::uint32_t tile_start(const TileLoad& load) {
  return kGuardBytes + load.destination_offset;
}

/// Byte of the unswizzled tile that belongs at byte `place` of the shared window.
/// `place` must lie inside the tile. PTX ISA 9.0, 5.5.7.
std::uint32_t unswizzled_byte(const TileLoad& load, std::uint32_t place);

/// Where among the eight 16-byte chunks of a row of 128 bytes, row `row` (0..7) of the pattern of
/// `swizzle`, stands the one that is number `chunk` without a swizzle. PTX ISA 9.0, 5.5.7.
std::uint32_t swizzled_chunk(Swizzle swizzle, std::uint32_t row, std::uint32_t chunk);

/// The element that byte `byte` of the unswizzled tile belongs to, dimension 0 fastest.
/// CUDA Driver API, cuTensorMapEncodeTiled, boxDim and elementStrides; PTX ISA 9.0, 5.5.3.
TilePlace element_at(const TileLoad& load, std::uint32_t byte);

}  // namespace tidemark::suite
