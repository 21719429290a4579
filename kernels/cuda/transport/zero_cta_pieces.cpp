// Every owner's n-th shard goes with the n-th shards of the others.
#include "kernels/cuda/transport/zero_cta_pieces.hpp"

#include <algorithm>

namespace tidemark::kernels {
namespace {

/// Of one owner, without empty ones.
std::vector<std::size_t> shards_owned(const PanelBuffer& panel, std::uint32_t owner) {
  std::vector<std::size_t> owned;
  for (std::size_t index = 0; index < panel.shards.size(); ++index)
    if (panel.shards[index].owner == owner && panel.shards[index].rows > 0) owned.push_back(index);
  return owned;
}

std::uint64_t bytes_of(const PanelBuffer& panel, std::size_t shard) {
  return panel.shards[shard].rows * panel.row_bytes;
}

/// The bytes of `shard` from `first` on.
PiecePart part_of(const PanelBuffer& panel, std::size_t shard, std::uint64_t first,
                  std::uint64_t most) {
  const std::uint64_t all = bytes_of(panel, shard);
  if (first >= all) return {};
  const std::uint64_t bytes = std::min(all - first, most);
  return {.shard = shard,
          .offset = panel.shards[shard].first_row * panel.row_bytes + first,
          .bytes = bytes,
          .last = first + bytes == all};
}

}  // namespace

std::vector<Piece> pieces_of(const PanelBuffer& panel, std::span<const std::uint32_t> members,
                             std::uint64_t most) {
  std::vector<std::vector<std::size_t>> owned;
  std::size_t steps = 0;
  for (const std::uint32_t member : members) {
    owned.push_back(shards_owned(panel, member));
    steps = std::max(steps, owned.back().size());
  }
  std::vector<Piece> pieces;
  for (std::size_t step = 0; step < steps; ++step) {
    std::uint64_t longest = 0;
    for (const std::vector<std::size_t>& shards : owned)
      if (step < shards.size()) longest = std::max(longest, bytes_of(panel, shards[step]));
    for (std::uint64_t first = 0; first < longest; first += most) {
      Piece& piece = pieces.emplace_back();
      for (const std::vector<std::size_t>& shards : owned)
        piece.parts.push_back(step < shards.size() ? part_of(panel, shards[step], first, most)
                                                   : PiecePart{});
      const std::uint64_t bytes = std::min(longest - first, most);
      piece.bytes = (bytes + kPieceUnit - 1) / kPieceUnit * kPieceUnit;
    }
  }
  return pieces;
}

}  // namespace tidemark::kernels
