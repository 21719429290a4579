// Where the bytes of a tile lie: the pull side of the oracle, used to predict and to explain.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark {

// Which element of a tensor belongs at a place of the shared window: the pull-style half of the
// tile-load oracle, used to predict and to explain.

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

// Which element of a tensor belongs at a place of a tile that an im2col load brings.

/// The element that byte `byte` of the unswizzled tile belongs to, channels fastest, then pixels.
/// Which pixel that is follows from its number among those of all bounding boxes, without a walk.
/// PTX ISA 9.0, 5.5.4; CUDA Driver API, cuTensorMapEncodeIm2col.
TilePlace im2col_element_at(const TileLoad& load, std::uint32_t byte);

/// Throws Error where no document says which pixels an im2col load brings, or a store without its
/// offsets writes, by a map that cuda.h allows.
void refuse_undocumented_pixels(const TileLoad& load);

// Interleaved maps as the oracle counts them, apart from the size functions of the devices.

/// Bytes that dimension 0 counts in: those of an element, or 16 or 32.
std::uint32_t bytes_counted(const TensorMapSpec& map);

/// How far the box of a tiled map reaches along dimension `i`, and how far apart what it takes
/// there lies. Measured on an H100, driver 580.159.04: dimension rank - 2 of an interleaved map has
/// one slice, whatever box and element stride say, and the element stride of dimension 0 counts.
std::uint32_t reach_along(const TensorMapSpec& map, std::uint32_t i);
std::uint32_t step_along(const TensorMapSpec& map, std::uint32_t i);

/// How many it takes along dimension `i`: those at 0, step, 2 step, ... below the reach.
std::uint32_t taken_along(const TensorMapSpec& map, std::uint32_t i);

/// Throws Error where an interleaved map is one of im2col, or the row is not held to the
/// measurement: PTX ISA 9.0, 5.5.6, and cuda.h do not say what such a copy moves.
void refuse_interleave(const TensorMapSpec& map, HeldTo held_to);

/// Throws Error where `bytes` bytes of an interleaved tile from `first` of the window on end within
/// what the swizzle exchanges, so that it moves some of them behind the end: not measured.
void refuse_part_of_swizzle(const TensorMapSpec& map, std::uint32_t first, std::uint32_t bytes);

// Where the bytes of a tile store go: used to predict and to explain.

/// A box that is stored from byte `offset` of a window on.
struct StoreTarget {
  TensorMapSpec map;
  std::array<std::int32_t, kMaxRank> at{};
  std::uint32_t offset = 0;
};

/// 16 bytes that a box puts into its region.
struct StoredChunk {
  std::array<std::int64_t, kMaxRank> element{};  // of the first byte: tensor coordinates
  std::uint64_t address = 0;                     // in the region
  std::uint32_t window_offset = 0;
};

/// All of a box, in the order in which they stand in the window. A chunk whose first element is in
/// the tensor is written whole, which is more than the documents allow where rows end off 16 bytes:
/// measured on H200s, driver 580.159.04; first seen on an H100: github.com/triton-lang/triton,
/// issue 11583. CUDA Driver API, cuTensorMapEncodeTiled; PTX ISA 9.0, 5.5.3 and 5.5.7. Element
/// strides are those of loads the other way round, which only PTX ISA 5.5.3.2 says, without a
/// direction: measured on H200s, driver 580.159.04, in two processes.
std::vector<StoredChunk> stored_chunks(const StoreTarget& box);

/// A byte of the region that a box is stored to.
struct StorePlace {
  std::array<std::int64_t, kMaxRank> element{};  // tensor coordinates; zeros in front of the tensor
  bool stored = false;                           // the box puts a byte there
  std::uint32_t window_offset = 0;               // of that byte in the shared window, if `stored`
};

/// The byte at `offset` of the region, in which the tensor starts behind kGuardBytes and
/// map.base_offset. For a person: it looks through all of the box.
StorePlace store_place(const StoreTarget& box, std::uint64_t offset);

/// False where box and load certainly have no byte of their region in common: they lie in one
/// tensor without two elements at one address, and apart in one of its dimensions.
bool may_overlap(const TileLoad& load, const StoreTarget& box);

}  // namespace tidemark
