// How a panel is cut where every member of a collective has to give as many bytes.
#include "kernels/cuda/transport/zero_cta_pieces.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kTwo[] = {3, 7};

TEST(PiecesOf, TheNthShardsOfAllOwnersGoTogether) {
  const PanelBuffer panel{.row_bytes = 512, .shards = {{3, 0, 2}, {3, 2, 1}, {7, 3, 2}, {7, 5, 1}}};

  const std::vector<Piece> pieces = pieces_of(panel, kTwo, 1 << 20);

  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].bytes, 1024U);
  EXPECT_EQ(pieces[0].parts[0].shard, 0U);
  EXPECT_EQ(pieces[0].parts[1].shard, 2U);
  EXPECT_EQ(pieces[0].parts[1].offset, 3 * 512U);
  EXPECT_EQ(pieces[1].bytes, 512U);
  EXPECT_EQ(pieces[1].parts[0].shard, 1U);
  EXPECT_EQ(pieces[1].parts[1].shard, 3U);
}

TEST(PiecesOf, LargeShardsTakeSeveralAndOnlyTheLastEndsThem) {
  const PanelBuffer panel{.row_bytes = 512, .shards = {{3, 0, 5}, {7, 5, 5}}};

  const std::vector<Piece> pieces = pieces_of(panel, kTwo, 1024);

  ASSERT_EQ(pieces.size(), 3U);
  EXPECT_FALSE(pieces[0].parts[1].last);
  EXPECT_FALSE(pieces[1].parts[1].last);
  EXPECT_EQ(pieces[1].parts[1].offset, 5 * 512 + 1024U);
  EXPECT_TRUE(pieces[2].parts[1].last);
  EXPECT_EQ(pieces[2].parts[1].bytes, 512U);
  EXPECT_EQ(pieces[2].bytes, 512U);
}

TEST(PiecesOf, WhoHasFewerBytesGivesWhatNobodyReads) {
  const PanelBuffer panel{.row_bytes = 16, .shards = {{3, 0, 1}, {7, 1, 40}, {3, 41, 0}}};

  const std::vector<Piece> pieces = pieces_of(panel, kTwo, 512);

  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].bytes, 512U);
  EXPECT_EQ(pieces[0].parts[0].bytes, 16U);
  EXPECT_TRUE(pieces[0].parts[0].last);
  EXPECT_EQ(pieces[1].bytes, 512U);  // 128, rounded up
  EXPECT_EQ(pieces[1].parts[0].bytes, 0U);
  EXPECT_EQ(pieces[1].parts[1].bytes, 128U);
}

// By hand: every byte of every shard once, in the order in which words are written behind them.
TEST(PiecesOf, BringsEveryByteOfRandomPanelsOnceAndItsWordBehindIt) {
  std::mt19937 random(20);
  for (int round = 0; round < 200; ++round) {
    PanelBuffer panel{.row_bytes = 16 * (1 + random() % 200), .shards = {}};
    std::uint64_t rows = 0;
    for (const std::uint32_t owner : {0U, 1U, 1U, 2U, 0U, 2U, 2U}) {
      panel.shards.push_back({owner, rows, random() % 30});
      rows += panel.shards.back().rows;
    }
    const std::vector<std::uint32_t> members = {0, 1, 2};
    std::vector<int> brought(rows * panel.row_bytes, 0);
    std::vector<int> words(panel.shards.size(), 0);
    for (const Piece& piece : pieces_of(panel, members, 4096)) {
      EXPECT_LE(piece.bytes, 4096U);
      EXPECT_EQ(piece.bytes % kPieceUnit, 0U);
      ASSERT_EQ(piece.parts.size(), 3U);
      for (std::size_t i = 0; i < 3; ++i) {
        const PiecePart& part = piece.parts[i];
        EXPECT_LE(part.bytes, piece.bytes);
        if (part.bytes == 0) continue;
        EXPECT_EQ(panel.shards[part.shard].owner, i);
        EXPECT_EQ(words[part.shard], 0);
        for (std::uint64_t at = 0; at < part.bytes; ++at) ++brought[part.offset + at];
        words[part.shard] += part.last ? 1 : 0;
      }
    }
    EXPECT_EQ(brought, std::vector<int>(brought.size(), 1));
    for (std::size_t shard = 0; shard < words.size(); ++shard)
      EXPECT_EQ(words[shard], panel.shards[shard].rows > 0 ? 1 : 0);
  }
}

}  // namespace
}  // namespace tidemark::kernels
