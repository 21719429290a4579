// The panels that the virtual matrix multiplication reads: made from the generator, completed by
// the transport.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ops/gemm/gemm.hpp"
#include "kernels/transport.hpp"

namespace tidemark::kernels {

/// Panel ids of the gathers of one Gemm.
inline constexpr std::uint32_t kPanelA = 0;
inline constexpr std::uint32_t kPanelB = 1;
inline constexpr std::uint32_t kPanelEverybody = 2;
inline constexpr std::uint32_t kPanelTimes = 5;  // 3 and 4 are those of a PeerTile
inline constexpr std::uint32_t kPanelDigests = 6;

/// One operand as bits of its type, those of fp8 in the low byte of each: `rows` rows of k
/// elements, or k rows of `rows` where it is MN-major. What no shard has filled in is 0xffff, a
/// NaN, and so is the padding behind the rows of an operand that is_plain() excludes; behind others
/// it is zero.
struct GemmPanel {
  std::uint64_t rows = 0;
  std::uint64_t k = 0;
  std::uint64_t pitch = 0;  // elements from row to row of memory
  std::vector<std::uint16_t> elements;
  std::vector<Shard> shards;           // without a transport one shard, the whole panel
  std::vector<std::uint32_t> arrived;  // a word for each: PanelBuffer::arrived
  Major major = Major::k;
  GemmElement element = GemmElement::bf16;
  bool plain = true;

  /// Where element (row, k) is kept if rows are `apart` elements apart.
  std::uint64_t index_of(std::uint64_t row, std::uint64_t at_k, std::uint64_t apart) const {
    return major == Major::k ? row * apart + at_k : at_k * apart + row;
  }
};

/// Makes the rows of one operand that this rank owns; all of them without a transport.
/// Throws Error when a shard reaches outside the panel.
GemmPanel make_gemm_panel(const Gemm& gemm, GemmOperand operand);

/// Makes the shards of other ranks NaN again, as make_gemm_panel() left them.
void poison_foreign_shards(GemmPanel& panel, std::uint32_t rank);

/// PanelBuffer::epoch and ::last of one gather. Number 0: without words, the reader asks ready().
struct GatherEpoch {
  std::uint32_t number = 0;
  bool last = false;
};

PanelBuffer buffer_of(GemmPanel& panel, std::uint32_t id, const GatherEpoch& epoch);

}  // namespace tidemark::kernels
