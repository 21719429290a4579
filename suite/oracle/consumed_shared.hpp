// Both tiles of a consumed tile in shared memory, and what wgmma finds there through descriptors
// that do not say of a tile what its tensor map did.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/tile_consume.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// The shared window behind the copies of both tiles. 0 where no copy wrote.
struct LoadedTiles {
  std::vector<std::uint8_t> bytes;
  std::vector<bool> written;
};

/// Pulls both tiles out of `source`, which is the source allocation of `op`.
LoadedTiles loaded_tiles(const TileConsume& op, const std::vector<std::uint8_t>& source);

/// One operand as the descriptors find it: element (mn, k) at [mn * op.k + k]. Throws where one
/// leads to a byte that no copy wrote. PTX ISA 9.0, 9.7.15.5.1.2; 5.5.7. An H200 (driver
/// 580.159.04, 2026-11) reads so, base offsets off the pattern's boundary included:
/// consume.mismatch and consume.base_offset in ci/baselines/h200-nightly.h5.
std::vector<std::int64_t> found_by_descriptors(const TileConsume& op, GemmOperand which,
                                               const LoadedTiles& tiles);

}  // namespace tidemark::suite
