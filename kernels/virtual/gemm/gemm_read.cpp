// Finds the elements that a tile is multiplied from, as the faults of reading have it.
#include "kernels/virtual/gemm/gemm_read.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/virtual/gemm/gemm_faults.hpp"

namespace tidemark::kernels {
namespace {

Shard last_shard(const GemmPanel& panel) {
  const auto full = std::find_if(panel.shards.rbegin(), panel.shards.rend(),
                                 [](const Shard& shard) { return shard.rows > 0; });
  return full == panel.shards.rend() ? Shard{} : *full;
}

/// Which row of the panel is read in place of `row`.
std::uint64_t row_read_for(const GemmReader& reader, std::uint64_t row) {
  const auto& [panel, operand, fault] = reader;
  const bool is_a = operand == GemmOperand::a;
  const std::uint64_t last = panel.rows - 1;
  if (is_a && fault == kFaultGemmRowsExchanged && last > 0 && row + 1 >= last)
    return row == last ? last - 1 : last;
  if (!is_a && fault == kFaultGemmNeighbourRow && row == last && last > 0) return row - 1;
  if (is_a && fault == kFaultGemmShardDisplaced) {
    const Shard shard = last_shard(panel);
    const bool inside = row > shard.first_row && row < shard.first_row + shard.rows;
    return inside ? row - 1 : row;
  }
  return row;
}

/// Where in memory element (row, k) is looked for.
std::uint64_t index_read_for(const GemmReader& reader, std::uint64_t row, std::uint64_t k) {
  const auto& [panel, operand, fault] = reader;
  std::uint64_t apart = panel.pitch;
  if (fault == kFaultGemmPackedRows) {
    const std::uint64_t sixteen = 16 / element_bytes(panel.element);  // bytes, in elements
    const std::uint64_t elements = panel.major == Major::k ? panel.k : panel.rows;
    apart = std::min(apart, (elements + sixteen - 1) / sixteen * sixteen);
  }
  if (fault == kFaultGemmMajorIgnored && panel.major == Major::mn) {
    // The square of 64 is read along its other side, as far as there is an element.
    const std::uint64_t turned_row = row / kGemmTile * kGemmTile + k % kGemmTile;
    const std::uint64_t turned_k = k / kGemmTile * kGemmTile + row % kGemmTile;
    if (turned_row < panel.rows && turned_k < panel.k)
      return panel.index_of(turned_row, turned_k, apart);
  }
  const std::uint64_t index = panel.index_of(row, k, apart);
  const std::uint64_t line = panel.major == Major::k ? row : k;
  return fault == kFaultGemmRowCut ? index - line * apart % 8 : index;
}

/// The type that the panel's elements are taken for.
GemmElement element_taken_for(const GemmReader& reader) {
  const auto& [panel, operand, fault] = reader;
  if (fault == kFaultGemmTypeIgnored && panel.element == GemmElement::f16) return GemmElement::bf16;
  if (fault == kFaultGemmE5m2AsE4m3 && panel.element == GemmElement::e5m2) return GemmElement::e4m3;
  return panel.element;
}

float element(const GemmReader& reader, std::uint64_t row, std::uint64_t k) {
  const auto& [panel, operand, fault] = reader;
  const bool is_a = operand == GemmOperand::a;
  if (!is_a && fault == kFaultGemmShardStale) {
    const Shard shard = last_shard(panel);
    if (row + 1 == shard.first_row + shard.rows) return std::numeric_limits<float>::quiet_NaN();
  }
  if (k >= panel.k) return fault == kFaultGemmPadding ? 1.0F : 0.0F;
  if (fault == kFaultGemmLastProduct && k + 1 == panel.k) return 0.0F;
  std::uint16_t bits = panel.elements[index_read_for(reader, row_read_for(reader, row), k)];
  if (is_a && fault == kFaultGemmBitFlip && row == panel.rows / 2 && k == panel.k / 2) bits ^= 1U;
  const float value = from_element(element_taken_for(reader), bits);
  return fault == kFaultGemmNonFiniteZeroed && !std::isfinite(value) ? 0.0F : value;
}

}  // namespace

void read_rows(const GemmReader& reader, std::uint64_t first, std::uint64_t k, std::uint64_t depth,
               GemmTileRows& to) {
  for (std::uint64_t i = 0; i < kGemmTile; ++i) {
    const std::uint64_t row = first + i;
    if (row >= reader.panel.rows) {
      to[i].fill(0.0F);
    } else if (reader.fault == kNoFault && reader.panel.plain) {
      const std::uint16_t* from = reader.panel.elements.data() + row * reader.panel.pitch + k;
      for (std::uint64_t d = 0; d < depth; ++d) to[i][d] = from_bf16(from[d]);
    } else {
      for (std::uint64_t d = 0; d < depth; ++d) to[i][d] = element(reader, row, k + d);
    }
  }
}

}  // namespace tidemark::kernels
