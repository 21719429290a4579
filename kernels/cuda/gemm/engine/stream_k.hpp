// Which tiles a cluster works on, and which k-blocks of them: whole tiles, or with stream-K an even
// share of the K of the last ones. Plain arithmetic, so that host and kernel agree on it and a test
// without a GPU checks it.
#pragma once

#include <cstdint>

#include "kernels/cuda/gemm/engine/engine.hpp"

namespace tidemark {

/// Parts of K are no shorter: to hand over the sums of a tile takes as long as two k-blocks.
inline constexpr std::uint32_t kLeastBlocks = 4;

/// Where the share of `cluster` begins and that of the one before ends, in k-blocks from
/// Partition::first_tile on. A share is no shorter than a tile, so that no tile is of more than two
/// clusters.
constexpr std::uint32_t share_begins(const EngineProblem& p, std::uint32_t cluster) {
  const Partition& of = p.partition;
  const std::uint32_t at = cluster * of.share + (cluster < of.longer ? cluster : of.longer);
  const std::uint32_t in_tile = at % p.k_blocks;
  if (in_tile < kLeastBlocks) return at - in_tile;
  if (p.k_blocks - in_tile < kLeastBlocks) return at + p.k_blocks - in_tile;
  return at;
}

/// The whole tiles of cluster EnginePlace::first in steps of the grid, then its share from the end
/// to the beginning: what comes first may be the first part of a tile whose last part is the next
/// cluster's, and to that one's walk the last, so that it finds the sums of the first. All roles
/// walk the same way.
struct EngineWalk {
  std::uint32_t tile;
  std::uint32_t first = 0, count;    // k-blocks of the tile
  std::uint32_t begin = 0, end = 0;  // what is left of the share
  std::uint32_t rounds;              // whole tiles behind this one
  bool is_at_first = true;

  constexpr EngineWalk(const EngineProblem& p, const EnginePlace& place)
      : tile(place.first), count(p.k_blocks), rounds(p.partition.rounds) {
    if (p.partition.share != 0) {  // else divisions that a small GEMM would wait for
      begin = share_begins(p, place.first);
      end = share_begins(p, place.first + 1);
    }
    if (place.first >= place.step)  // it has taken the invalid tile
      tile = p.m_tiles * p.n_tiles;
    else if (rounds == 0)
      cut(p);
    else
      --rounds;
  }
  constexpr bool more(const EngineProblem& p) const { return tile < p.m_tiles * p.n_tiles; }
  constexpr void next(const EngineProblem& p, const EnginePlace& place) {
    is_at_first = false;
    if (rounds == 0) return cut(p);
    --rounds;
    tile += place.step;
  }
  constexpr bool is_last(const EngineProblem& p, const EnginePlace& place) const {
    return rounds == 0 ? begin == end : tile + place.step >= p.m_tiles * p.n_tiles;
  }
  constexpr bool reaches_end(const EngineProblem& p) const { return first + count == p.k_blocks; }

 private:
  /// The last tile of what is left.
  constexpr void cut(const EngineProblem& p) {
    if (begin == end) {
      tile = p.m_tiles * p.n_tiles;
      return;
    }
    const std::uint32_t at = (end - 1) / p.k_blocks;
    const std::uint32_t from = begin > at * p.k_blocks ? begin : at * p.k_blocks;
    tile = p.partition.first_tile + at;
    first = from - at * p.k_blocks;
    count = end - from;
    end = from;
  }
};

}  // namespace tidemark
