// Tiles that are read behind their loads: by wgmma, and by one warp.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/ops/payload.hpp"
#include "kernels/ops/program/program.hpp"
#include "kernels/ops/program/wgmma.hpp"
#include "kernels/ops/tensor_map.hpp"
#include "kernels/ops/tile_load.hpp"

namespace tidemark {

// A tile of A and a tile of B come into shared memory by TMA, wgmma reads both through matrix
// descriptors, and their product is stored: does what TMA wrote mean to the tensor core what it
// meant in the tensors?

/// C = A B of one 64 x n x k tile: both tensors lie in one region of integers_in(type).
struct TileConsume {
  MmaType type = MmaType::bf16;
  std::uint32_t n = 64, k = 64;
  // Their offsets count from the place on 1024 that wgmma_of() finds: multiples of 128 below 1024.
  WgmmaOperand a{}, b{};
  /// Of the matrices, M, N and K; the tile starts `at` of them and may hang out on any side: what
  /// lies outside is zero.
  std::array<std::uint64_t, 3> extent{64, 64, 64};
  std::array<std::int32_t, 3> at{};
  Payload payload;
};

/// What the runner sets for each run of a row.
constexpr Payload& payload_of(TileConsume& op) { return op.payload; }

/// The product of its window: a guard, A, B from the next 1024 bytes on, a guard, C, a guard. What
/// a descriptor says differently from the tensor map may so reach a guard.
constexpr Wgmma wgmma_of(const TileConsume& op) {
  Wgmma product{.type = op.type, .n = op.n, .k = op.k, .a = op.a, .b = op.b};
  product.a.offset += kGuardBytes;
  const std::uint32_t a_end = product.a.offset + operand_bytes(product, GemmOperand::a);
  product.b.offset += (a_end + 1023) / 1024 * 1024;
  return product;
}

/// Where C lies in the window.
constexpr std::uint32_t product_offset(const Wgmma& product) {
  return product.b.offset + operand_bytes(product, GemmOperand::b) + kGuardBytes;
}

/// Box `box` of an operand as the tile load that it is.
TileLoad box_load(const TileConsume& op, GemmOperand which, std::uint32_t box);

/// Loads all boxes on one barrier, multiplies, and shows the window.
Program program_of(const TileConsume& op);

// One warp reads 16-byte columns of a tile that a tensor copy wrote: what each lane gets, and how
// long the shared memory banks make it take.

/// Where the tile lies that the warp reads.
enum class TilePlacement : std::uint8_t {
  as_loaded,  // as the copy left it: groups of rows, each row one box row wide
  unsplit,  // placed anew by the threads: rows of all groups side by side, swizzled by the address
};

/// The load of a tile, which is placed anew where `placement` is unsplit, and a read of 32 of its
/// chunks by one warp: Verb::place_rows and Verb::read_columns. Timed, 8 warps read kReadsPerWarp
/// times each at such addresses.
struct TileRead {
  TileLoad load;
  TilePlacement placement = TilePlacement::as_loaded;
  std::uint32_t first_column = 0;
};

inline constexpr std::uint32_t kReadingWarps = 8;
inline constexpr std::uint32_t kReadsPerWarp = 1024;

constexpr Payload& payload_of(TileRead& read) { return read.load.payload; }

/// Bytes from row to row of what the warp reads; 0 as loaded.
constexpr std::uint32_t pitch_of(const TileRead& read) {
  const TensorMapSpec& map = read.load.map;
  return read.placement == TilePlacement::unsplit ? group_row_bytes(map) * map.box[2] : 0;
}

/// Loads the tile, places it anew where asked, reads, and shows the window: what the lanes read
/// stands last, between guards.
Program program_of(const TileRead& read);

/// Where lane `lane` reads, from the start of an area that is aligned to 1024 bytes and shifted by
/// the load's destination offset where it is as loaded.
constexpr std::uint32_t read_offset(const TileRead& read, std::uint32_t lane) {
  const TensorMapSpec& map = read.load.map;
  const std::uint32_t start =
      read.placement == TilePlacement::as_loaded ? read.load.destination_offset : 0;
  const LaneChunk chunk = chunk_of_lane(map, read.first_column, lane);
  return swizzled(start + chunk_offset(map, pitch_of(read), chunk), map.swizzle);
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

}  // namespace tidemark
