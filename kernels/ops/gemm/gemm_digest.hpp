// What a product came to, in one word a tile: equal wherever the same elements have the same bits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark::kernels {

/// Rows and columns of a tile that has a digest of its own.
inline constexpr std::uint64_t kDigestTile = 256;

/// Tiles of a block of `rows` x `cols`.
constexpr std::uint64_t digest_tiles(std::uint64_t rows, std::uint64_t cols) {
  return (rows + kDigestTile - 1) / kDigestTile * ((cols + kDigestTile - 1) / kDigestTile);
}

/// The digest of each tile of the rank's block, whose bytes are RunResult::bytes: row by row of
/// tiles. It is the sum, modulo 2^64, of a hash of every element's bits and of where it stands in
/// the whole C, so that the sum over all tiles and ranks does not depend on how C is shared out.
std::vector<std::uint64_t> tile_digests(const Gemm& gemm, std::span<const std::uint8_t> bytes);

/// What this rank tells all others of its block: every tile where Gemm::vote, else one word.
std::vector<std::uint64_t> told_digests(const Gemm& gemm, std::span<const std::uint8_t> bytes);

}  // namespace tidemark::kernels
