// The path of a tile load from tensor coordinates to shared addresses, one 16-byte chunk at a time.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/fault.hpp"
#include "kernels/ops/program/islands.hpp"
#include "kernels/ops/tile_load.hpp"
#include "kernels/virtual/copies/bulk_engine.hpp"

namespace tidemark {

/// A tile load with the tensor map read and every default resolved. Arrays are per dimension, those
/// past the rank neutral.
struct TileGeometry {
  DataType type = DataType::u8;
  std::uint32_t element = 1;  // bytes
  std::uint32_t unit = 1;     // bytes that one step along dimension 0 is: an element, or 16 or 32
  std::uint32_t rank = 1;
  std::array<std::uint32_t, kMaxRank> count{};  // elements the tile has
  std::array<std::int64_t, kMaxRank> first{};   // tensor coordinate of the tile's first
  std::array<std::int64_t, kMaxRank> step{};    // from one element of the tile to the next
  std::array<std::int64_t, kMaxRank> box{};     // elements of the tensor the box spans
  std::array<std::int64_t, kMaxRank> extent{};  // of the tensor
  std::array<std::int64_t, kMaxRank> pitch{};   // bytes
  std::int64_t base = 0;                        // of the tensor in the source allocation
  Swizzle swizzle = Swizzle::none;
  Fill fill = Fill::zero;
  bool bulk = false;
  CacheHint hint = CacheHint::none;
  MemorySource source = MemorySource::device;
  bool cold = false;
  std::int64_t destination = 0;       // shared address of the tile
  std::uint32_t row_pitch = 0;        // bytes from one of its rows to the next
  std::span<const Island> islands{};  // of the source
  // By an im2col map: where each of its pixels lies, by dimension; dimension 1 of the tile counts
  // them.
  std::vector<std::array<std::int64_t, kMaxRank>> pixels{};
  Fault fault = kNoFault;
};

/// Reads `load`, whose map must be one that refusal_of() lets pass.
TileGeometry tile_geometry(const TileLoad& load, std::int64_t destination, Fault fault);

/// 16-byte chunks of the tile; dimension 0 is always whole chunks.
std::uint32_t chunk_count(const TileGeometry& tile);

/// Position in the tile, per dimension, of the first element of chunk `index`, or of its unit.
std::array<std::int64_t, kMaxRank> position_of(const TileGeometry& tile, std::uint32_t index);

/// Bytes from the start of its unit to chunk `index`: 16 for the second half of 32, else 0.
std::uint32_t byte_in_unit(const TileGeometry& tile, std::uint32_t index);

/// Where chunk `index` stands in shared memory, by its absolute address. PTX ISA 9.0, 5.5.7.
std::int64_t swizzled_address(const TileGeometry& tile, std::uint32_t index);

/// Chunk `index` in the order of the unswizzled tile: CUDA Driver API, cuTensorMapEncodeTiled; PTX
/// ISA 9.0, 5.5.3 and 5.5.7. Elements of tf32 and tf32_ftz are rounded, but by a bulk copy.
/// `source` is the whole source allocation; what lies outside reads as 0xee.
Chunk tile_chunk(const TileGeometry& tile, std::span<const std::uint8_t> source,
                 std::uint32_t index);

// The pixels of an im2col load, one after the other. PTX ISA 9.0, 5.5.4.

/// Coordinates of the pixels that `load` brings, whose map is an im2col one; dimension 0 is left to
/// the tile. From one pixel to the next W goes a traversal stride further; behind the end of the
/// bounding box it starts anew and H goes on, then D, then the batch.
std::vector<std::array<std::int64_t, kMaxRank>> im2col_pixels(const TileLoad& load,
                                                              const TileGeometry& tile);

/// Whether a fault has memory read for channel `channel`, which is none of the tensor.
bool takes_channel(const TileGeometry& tile, std::int64_t channel);

}  // namespace tidemark
