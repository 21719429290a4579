// Stream-K: which tiles a cluster works on, and which blocks of their K. All roles walk the same
// way. Plain arithmetic: a test without a GPU holds it.
#pragma once

#include <cstdint>

#include "kernels/cuda/gemm/engine/engine.hpp"
#include "kernels/cuda/gemm/engine/shared_out.hpp"

namespace tidemark::kernels {

/// Parts of K are no shorter: to hand over the sums of a tile takes as long as two blocks.
inline constexpr std::uint32_t kLeastBlocks = 4;

/// Where the share of `cluster` begins and that of the one before ends, in blocks of K from
/// SharedOut::first_tile on. A share is no shorter than a tile, so that no tile is of more than two
/// clusters.
constexpr std::uint32_t share_begins(const EngineProblem& p, std::uint32_t cluster) {
  const SharedOut& out = p.shared_out;
  const std::uint32_t at = cluster * out.share + (cluster < out.longer ? cluster : out.longer);
  const std::uint32_t in_tile = at % p.k_blocks;
  if (in_tile < kLeastBlocks) return at - in_tile;
  if (p.k_blocks - in_tile < kLeastBlocks) return at + p.k_blocks - in_tile;
  return at;
}

/// The whole tiles of cluster EnginePlace::first, then its share from the end to the beginning:
/// what comes first may be the first part of a tile whose last part is the next cluster's, and to
/// that one's walk the last, so that it finds the sums of the first.
struct StreamWalk {
  std::uint32_t tile;
  std::uint32_t first = 0, count;  // blocks of K
  std::uint32_t begin, end;        // what is left of the share
  std::uint32_t rounds;            // whole tiles behind this one
  bool is_at_first = true;

  constexpr StreamWalk(const EngineProblem& p, const EnginePlace& place)
      : tile(place.first),
        count(p.k_blocks),
        begin(share_begins(p, place.first)),
        end(share_begins(p, place.first + 1)),
        rounds(p.shared_out.rounds) {
    if (place.first >= place.step)  // it has taken nobody's tile
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
  constexpr bool is_first(const EnginePlace& /*place*/) const { return is_at_first; }
  constexpr bool is_last(const EngineProblem& p, const EnginePlace& place) const {
    return rounds == 0 ? begin == end : tile + place.step >= p.m_tiles * p.n_tiles;
  }
  constexpr std::uint32_t first_block() const { return first; }
  constexpr std::uint32_t blocks(const EngineProblem& /*p*/) const { return count; }
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
    tile = p.shared_out.first_tile + at;
    first = from - at * p.k_blocks;
    count = end - from;
    end = from;
  }
};

}  // namespace tidemark::kernels
