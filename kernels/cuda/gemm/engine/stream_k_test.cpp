// Stream-K on paper: who multiplies which blocks of which tile, and in which order.
#include "kernels/cuda/gemm/engine/stream_k.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

namespace tidemark {
namespace {

/// Blocks first ... end - 1 of K of one tile, as a cluster comes to them.
struct Part {
  std::uint32_t cluster = 0, first = 0, end = 0;
  bool comes_first = false, comes_last = false;  // of its cluster's share
};

struct Shared {
  std::uint32_t tiles = 0, clusters = 0, k_blocks = 0;
};

EngineProblem problem_of(const Shared& shared) {
  EngineProblem p;
  p.m_tiles = shared.tiles;
  p.n_tiles = 1;
  p.k_blocks = shared.k_blocks;
  p.partition = stream_k(shared.tiles, shared.clusters, shared.k_blocks);
  return p;
}

/// Parts of every tile, in order of K.
std::map<std::uint32_t, std::vector<Part>> parts_of(const Shared& shared) {
  const EngineProblem p = problem_of(shared);
  std::map<std::uint32_t, std::vector<Part>> parts;
  for (std::uint32_t cluster = 0; cluster < shared.clusters; ++cluster) {
    const EnginePlace place{.first = cluster, .step = shared.clusters};
    std::uint32_t taken = 0;
    for (EngineWalk walk(p, place); walk.more(p); walk.next(p, place))
      parts[walk.tile].push_back({.cluster = cluster,
                                  .first = walk.first,
                                  .end = walk.first + walk.count,
                                  .comes_first = taken++ == p.partition.rounds,
                                  .comes_last = walk.is_last(p, place)});
  }
  for (auto& [tile, of_tile] : parts)
    std::sort(of_tile.begin(), of_tile.end(),
              [](const Part& one, const Part& other) { return one.first < other.first; });
  return parts;
}

const std::vector<Shared> kShared = {{598, 66, 43}, {84, 66, 134}, {67, 66, 1},   {131, 66, 7},
                                     {1008, 66, 8}, {90, 66, 3},   {200, 132, 9}, {5, 3, 100},
                                     {131, 66, 4},  {352, 66, 33}, {1504, 66, 64}};

TEST(EngineWalk, TakesEveryBlockOfEveryTileOnce) {
  for (const Shared& shared : kShared) {
    const auto parts = parts_of(shared);
    EXPECT_EQ(parts.size(), shared.tiles);
    for (const auto& [tile, of_tile] : parts) {
      EXPECT_EQ(of_tile.front().first, 0U) << tile;
      EXPECT_EQ(of_tile.back().end, shared.k_blocks) << tile;
      for (std::size_t i = 1; i < of_tile.size(); ++i)
        EXPECT_EQ(of_tile[i].first, of_tile[i - 1].end) << tile;
    }
  }
}

// Else two clusters could wait for each other.
TEST(EngineWalk, FirstPartComesFirstAndLastPartLastAndIsTheNextClusters) {
  for (const Shared& shared : kShared)
    for (const auto& [tile, of_tile] : parts_of(shared)) {
      ASSERT_LE(of_tile.size(), 2U) << tile;
      if (of_tile.size() == 1) continue;
      EXPECT_EQ(of_tile[1].cluster, of_tile[0].cluster + 1) << tile;
      EXPECT_TRUE(of_tile[0].comes_first) << tile;
      EXPECT_TRUE(of_tile[1].comes_last) << tile;
    }
}

TEST(EngineWalk, SharesAreEvenAndNoPartIsVeryShort) {
  for (const Shared& shared : kShared) {
    std::map<std::uint32_t, std::uint32_t> blocks;
    for (const auto& [tile, of_tile] : parts_of(shared))
      for (const Part& part : of_tile) {
        blocks[part.cluster] += part.end - part.first;
        EXPECT_GE(part.end - part.first, std::min(kLeastBlocks, shared.k_blocks)) << tile;
      }
    const auto less = [](const auto& one, const auto& other) { return one.second < other.second; };
    const auto [least, most] = std::minmax_element(blocks.begin(), blocks.end(), less);
    // Each end of a share may be moved to the end of a tile.
    EXPECT_LE(most->second - least->second, 4 * (kLeastBlocks - 1) + 1);
  }
}

TEST(EngineWalk, WholeTilesWhereThereIsNothingToShareOut) {
  for (const Shared& shared : {Shared{132, 66, 40}, Shared{65, 65, 40}, Shared{1, 1, 1}})
    for (const auto& [tile, of_tile] : parts_of(shared)) EXPECT_EQ(of_tile.size(), 1U) << tile;
}

// As of a word that another launch has, too (kernel.cuh).
TEST(EngineWalk, NobodysTileIsNoWork) {
  for (const std::uint32_t tiles : {84U, 598U}) {
    const EngineProblem p = problem_of({tiles, 66, 43});
    EXPECT_FALSE(EngineWalk(p, {.first = tiles, .step = 66}).more(p));
  }
}

}  // namespace
}  // namespace tidemark
