// Stream-K: how clusters share out the tiles of a product. Plain arithmetic, so that host and
// kernel agree on it and a test without a GPU can hold it.
#pragma once

#include <cstdint>

namespace tidemark::kernels {

/// First each cluster has so many whole tiles, in steps of the grid; the blocks of K of all others
/// are shared out evenly, in order.
struct SharedOut {
  std::uint32_t rounds = 0;      // of whole tiles
  std::uint32_t first_tile = 0;  // of the others
  std::uint32_t share = 0;       // blocks of K a cluster
  std::uint32_t longer = 0;      // clusters, the first ones, that have one more
};

/// Whether `tiles` of `k_blocks` are worth sharing out: not where each cluster has as many as the
/// others, where there are fewer than clusters, and where 32 bits do not count their blocks.
constexpr bool is_shared_out(std::uint64_t tiles, std::uint64_t clusters, std::uint64_t k_blocks) {
  return tiles >= clusters && tiles % clusters != 0 && 2 * clusters * k_blocks < 1ULL << 31;
}

/// As many rounds of whole tiles as leave each cluster one tile or more to share out; all of them
/// where is_shared_out() says no.
constexpr SharedOut shared_out(std::uint32_t tiles, std::uint32_t clusters,
                               std::uint32_t k_blocks) {
  if (!is_shared_out(tiles, clusters, k_blocks))
    return {.rounds = (tiles + clusters - 1) / clusters, .first_tile = tiles};
  const std::uint32_t rounds = tiles / clusters - 1;
  const std::uint32_t blocks = (tiles - rounds * clusters) * k_blocks;
  return {.rounds = rounds,
          .first_tile = rounds * clusters,
          .share = blocks / clusters,
          .longer = blocks % clusters};
}

}  // namespace tidemark::kernels
