// What each collective of a panel brings, when all of its members give as many bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/transport.hpp"

namespace tidemark::kernels {

/// Bytes of one member's shard in one collective.
struct PiecePart {
  std::size_t shard = 0;
  std::uint64_t offset = 0;  // in the panel
  std::uint64_t bytes = 0;   // 0: this member has none left
  bool last = false;         // of the shard
};

/// One collective.
struct Piece {
  std::uint64_t bytes = 0;       // that each member gives, those beyond its part are of no use
  std::vector<PiecePart> parts;  // by member
};

/// The pieces of a panel in order: the first shards of all `members` (the owners, in ascending
/// order), then the second ones; none has more than `most` bytes of a member, a multiple of
/// kPieceUnit, as has every piece.
std::vector<Piece> pieces_of(const PanelBuffer& panel, std::span<const std::uint32_t> members,
                             std::uint64_t most);

inline constexpr std::uint64_t kPieceUnit = 512;

}  // namespace tidemark::kernels
