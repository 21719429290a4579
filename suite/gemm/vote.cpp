// Counts digests tile by tile.
#include "suite/gemm/vote.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "kernels/ops/gemm/gemm_digest.hpp"

namespace tidemark::suite {
namespace {

/// The digest of more than half of all ranks for a tile.
struct Majority {
  bool found = false;
  std::uint64_t digest = 0;
};

Majority majority_of(const RunResult& result, std::uint64_t tile, std::uint64_t tiles) {
  const std::size_t ranks = result.digests.size() / tiles;
  std::vector<std::uint64_t> votes;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    votes.push_back(result.digests[rank * tiles + tile]);
  std::sort(votes.begin(), votes.end());
  const std::uint64_t middle = votes[ranks / 2];
  const auto count = std::count(votes.begin(), votes.end(), middle);
  return {.found = 2 * static_cast<std::size_t>(count) > ranks, .digest = middle};
}

std::string place_of(const Gemm& gemm, std::uint64_t tile) {
  const std::uint64_t across = (gemm.cols.count + kDigestTile - 1) / kDigestTile;
  const std::uint64_t row = tile / across * kDigestTile;
  const std::uint64_t column = tile % across * kDigestTile;
  return fmt::format("rows {} to {}, columns {} to {}", row,
                     std::min(row + kDigestTile, gemm.rows.count) - 1, column,
                     std::min(column + kDigestTile, gemm.cols.count) - 1);
}

Miscompare miscompare_of(const Gemm& gemm, std::uint64_t tile, std::uint64_t expected,
                         std::uint64_t actual, std::uint32_t row_index, std::string text) {
  const std::uint64_t across = (gemm.cols.count + kDigestTile - 1) / kDigestTile;
  Miscompare miscompare;
  miscompare.row = row_index;
  miscompare.what = std::string("vote");
  miscompare.coordinate = {static_cast<std::int64_t>(tile / across * kDigestTile),
                           static_cast<std::int64_t>(tile % across * kDigestTile), 0, 0, 0};
  miscompare.expected = expected;
  miscompare.actual = actual;
  miscompare.text = std::move(text);
  return miscompare;
}

}  // namespace

std::vector<Miscompare> verify_vote(const Gemm& gemm, const RunResult& result,
                                    std::uint32_t row_index) {
  const std::uint64_t tiles = digest_tiles(gemm.rows.count, gemm.cols.count);
  if (tiles == 0 || (gemm.transport == nullptr && result.digests.empty())) return {};
  const std::uint64_t ranks =
      gemm.transport == nullptr ? result.digests.size() / tiles : gemm.everybody.size();
  if (result.digests.size() != ranks * tiles)
    return {miscompare_of(gemm, 0, ranks * tiles, result.digests.size(), row_index,
                          fmt::format("the ranks handed over {} digests where {} belong",
                                      result.digests.size(), ranks * tiles))};
  std::uint64_t outvoted = 0, first_outvoted = 0, open = 0, first_open = 0;
  std::uint64_t expected = 0;
  for (std::uint64_t tile = tiles; tile-- > 0;) {
    const Majority majority = majority_of(result, tile, tiles);
    if (!majority.found) {
      ++open;
      first_open = tile;
    } else if (result.digests[gemm.rank * tiles + tile] != majority.digest) {
      ++outvoted;
      first_outvoted = tile;
      expected = majority.digest;
    }
  }
  std::vector<Miscompare> found;
  if (outvoted > 0)
    found.push_back(miscompare_of(
        gemm, first_outvoted, expected, result.digests[gemm.rank * tiles + first_outvoted],
        row_index,
        fmt::format("this GPU, rank {}, differs from most of {} GPUs in {} of {} tiles of the same "
                    "C, first in {}",
                    gemm.rank, ranks, outvoted, tiles, place_of(gemm, first_outvoted))));
  if (open > 0)
    found.push_back(miscompare_of(
        gemm, first_open, 0, result.digests[gemm.rank * tiles + first_open], row_index,
        fmt::format("{} GPUs differ in {} of {} tiles of the same C, first in {}, and no more than "
                    "half agree: more GPUs would tell which is wrong",
                    ranks, open, tiles, place_of(gemm, first_open))));
  return found;
}

}  // namespace tidemark::suite
