// One warp reads 16-byte columns of a tile that a tensor copy wrote: what each lane gets, and how
// long the shared memory banks make it take.
#pragma once

#include <cstdint>

#include "kernels/ops/tile_load.hpp"

namespace tidemark::kernels {

/// Where the tile lies that the warp reads.
enum class TilePlacement : std::uint8_t {
  as_loaded,  // as the copy left it: groups of rows, each row one box row wide
  unsplit,  // placed anew by the threads: rows of all groups side by side, swizzled by the address
};

/// A warp's read of a tile of rank 3: dimension 0 is a row of a group (16 to 128 bytes), dimension
/// 1 the rows (8, 16 or 32), dimension 2 the groups; so that a matrix of `rows` x (groups * row)
/// bytes lies as one atom layout a group. The device
///   1. fills the source and poisons the window as for `load`, loads the tile and waits (bounded);
///   2. where `placement` is unsplit, copies each 16-byte chunk from where the load put it to byte
///      row * pitch + 16 * column of an area of its own (1024-byte aligned, pitch = all groups'
///      rows), exclusive-or'd as the map's swizzle prescribes for that address;
///   3. lets lane l of one warp read the 16 bytes of row l % rows, column first_column + l / rows:
///      columns are 16-byte chunks, counted through all groups;
///   4. when measured: 8 warps repeat the read of step 3, kReadsPerWarp times each.
/// RunResult::bytes: what lanes 0 to 31 read, 512 bytes; surroundings: the source allocation;
/// ledger: announced and complete.
struct TileRead {
  TileLoad load;
  TilePlacement placement = TilePlacement::as_loaded;
  std::uint32_t first_column = 0;
};

inline constexpr std::uint32_t kWarpLanes = 32;
inline constexpr std::uint32_t kReadBytes = 16;  // a lane's
inline constexpr std::uint32_t kReadingWarps = 8;
inline constexpr std::uint32_t kReadsPerWarp = 1024;

constexpr Payload& payload_of(TileRead& read) { return read.load.payload; }

/// Bytes of one row of one group.
constexpr std::uint32_t group_row_bytes(const TileRead& read) {
  return read.load.map.box[0] * element_bytes(read.load.map.type);
}

/// Row and column of the matrix that a lane reads.
struct LaneChunk {
  std::uint32_t row = 0;
  std::uint32_t column = 0;
};

constexpr LaneChunk chunk_of_lane(const TileRead& read, std::uint32_t lane) {
  const std::uint32_t rows = read.load.map.box[1];
  return {.row = lane % rows, .column = read.first_column + lane / rows};
}

/// Offset of a chunk from the start of the area it lies in, before the swizzle.
constexpr std::uint32_t linear_offset(const TileRead& read, TilePlacement placement,
                                      const LaneChunk& chunk) {
  const std::uint32_t row_bytes = group_row_bytes(read);
  const std::uint32_t byte = chunk.column * kReadBytes;
  if (placement == TilePlacement::unsplit)
    return chunk.row * row_bytes * read.load.map.box[2] + byte;
  const std::uint32_t group = byte / row_bytes;
  return (group * read.load.map.box[1] + chunk.row) * row_bytes + byte % row_bytes;
}

/// The shared address of a chunk whose unswizzled address is `address`. PTX ISA 9.0, 5.5.7.
constexpr std::uint32_t swizzled(std::uint32_t address, Swizzle swizzle) {
  const std::uint32_t mask = swizzle == Swizzle::none ? 0 : swizzle_bytes(swizzle) / 16 - 1;
  return address ^ (((address >> 7) & mask) << 4);
}

/// Where lane `lane` reads, from the start of an area that is aligned to 1024 bytes and shifted by
/// the load's destination offset where it is as loaded.
constexpr std::uint32_t read_offset(const TileRead& read, std::uint32_t lane) {
  const std::uint32_t start =
      read.placement == TilePlacement::as_loaded ? read.load.destination_offset : 0;
  return swizzled(start + linear_offset(read, read.placement, chunk_of_lane(read, lane)),
                  read.load.map.swizzle);
}

/// How many times shared memory must be accessed for one such read: 16-byte reads go by quarter
/// warps, and of one access every bank (4 bytes wide, 32 of them) gives one word. 4 without
/// conflicts. Best Practices Guide, shared memory and memory banks.
constexpr std::uint32_t predicted_wavefronts(const TileRead& read) {
  std::uint32_t wavefronts = 0;
  for (std::uint32_t quarter = 0; quarter < kWarpLanes; quarter += 8) {
    std::uint32_t most = 0;
    for (std::uint32_t bank = 0; bank < 8; ++bank) {  // groups of four banks: a chunk's width
      std::uint32_t chunks = 0;
      for (std::uint32_t lane = quarter; lane < quarter + 8; ++lane)
        if (read_offset(read, lane) / 16 % 8 == bank) ++chunks;
      most = chunks > most ? chunks : most;
    }
    wavefronts += most;
  }
  return wavefronts;
}

}  // namespace tidemark::kernels
