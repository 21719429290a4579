// A tile of rank 3 as a matrix of 16-byte chunks: dimension 0 is a row of a group (16 to 128
// bytes), dimension 1 the rows (8, 16 or 32), dimension 2 the groups, side by side.
#pragma once

#include <cstdint>

#include "kernels/ops/tensor_map.hpp"

namespace tidemark {

inline constexpr std::uint32_t kWarpLanes = 32;
inline constexpr std::uint32_t kReadBytes = 16;  // a lane's

/// Bytes of one row of one group.
constexpr std::uint32_t group_row_bytes(const TensorMapSpec& map) {
  return map.box[0] * element_bytes(map.type);
}

/// Chunks of a row, through all groups.
constexpr std::uint32_t columns_of(const TensorMapSpec& map) {
  return group_row_bytes(map) / kReadBytes * map.box[2];
}

/// Row and column of the matrix.
struct LaneChunk {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

/// The chunk that a lane reads where lane 0 has column `first`.
constexpr LaneChunk chunk_of_lane(const TensorMapSpec& map, std::uint32_t first,
                                  std::uint32_t lane) {
  return {.row = lane % map.box[1], .column = first + lane / map.box[1]};
}

/// Offset of a chunk from the start of the matrix, before the swizzle: group by group as a load
/// leaves them, or where `pitch` is not 0 in rows of so many bytes.
constexpr std::uint32_t chunk_offset(const TensorMapSpec& map, std::uint32_t pitch,
                                     const LaneChunk& chunk) {
  const std::uint32_t row_bytes = group_row_bytes(map);
  const std::uint32_t byte = chunk.column * kReadBytes;
  if (pitch != 0) return chunk.row * pitch + byte;
  return (byte / row_bytes * map.box[1] + chunk.row) * row_bytes + byte % row_bytes;
}

/// The shared address of a chunk whose unswizzled address is `address`. PTX ISA 9.0, 5.5.7.
constexpr std::uint32_t swizzled(std::uint32_t address, Swizzle swizzle) {
  const std::uint32_t mask = swizzle == Swizzle::none ? 0 : swizzle_bytes(swizzle) / 16 - 1;
  return address ^ (((address >> 7) & mask) << 4);
}

}  // namespace tidemark
