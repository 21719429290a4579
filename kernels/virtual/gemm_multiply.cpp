// Multiplies two panels in tiles of 64 x 64 and blocks of 64 k, as an engine on a GPU would walk
// them. Every element is the sum of its products in order of k, so that neither the tiles nor the
// number of ranks change a bit.
#include "kernels/virtual/gemm_multiply.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/virtual/gemm_faults.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kTile = 64;      // rows and columns
constexpr std::uint64_t kDepth = 64;     // k of a block
constexpr std::uint64_t kStages = 4;     // blocks that the ring of kFaultGemmStaleStage holds
constexpr std::uint64_t kStrip = 4;      // rows of a strip kept in registers
constexpr std::uint64_t kLanes = 8;      // columns of a strip
constexpr std::uint64_t kCorner = 8;     // edge of the block that kFaultGemmTransposed turns
constexpr std::uint64_t kPartial = 128;  // k of fp8 that a tensor core sums before it is promoted

using Sums = std::array<std::array<float, kTile>, kTile>;

/// One block of both panels as fp32. B is turned, so that the inner loop runs along columns.
struct Block {
  std::array<std::array<float, kDepth>, kTile> a;
  std::array<std::array<float, kTile>, kDepth> b;
};

Shard last_shard(const GemmPanel& panel) {
  const auto full = std::find_if(panel.shards.rbegin(), panel.shards.rend(),
                                 [](const Shard& shard) { return shard.rows > 0; });
  return full == panel.shards.rend() ? Shard{} : *full;
}

/// Reads elements of one panel, through the fault.
struct Reader {
  const GemmPanel& panel;
  GemmOperand operand;
  Fault fault;

  /// Which row of the panel is read in place of `row`.
  std::uint64_t row_read_for(std::uint64_t row) const {
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
  std::uint64_t index_read_for(std::uint64_t row, std::uint64_t k) const {
    std::uint64_t apart = panel.pitch;
    if (fault == kFaultGemmPackedRows) {
      const std::uint64_t sixteen = 16 / element_bytes(panel.element);  // bytes, in elements
      const std::uint64_t elements = panel.major == Major::k ? panel.k : panel.rows;
      apart = std::min(apart, (elements + sixteen - 1) / sixteen * sixteen);
    }
    if (fault == kFaultGemmMajorIgnored && panel.major == Major::mn) {
      // The square of 64 is read along its other side, as far as there is an element.
      const std::uint64_t turned_row = row / kTile * kTile + k % kTile;
      const std::uint64_t turned_k = k / kTile * kTile + row % kTile;
      if (turned_row < panel.rows && turned_k < panel.k)
        return panel.index_of(turned_row, turned_k, apart);
    }
    const std::uint64_t index = panel.index_of(row, k, apart);
    const std::uint64_t line = panel.major == Major::k ? row : k;
    return fault == kFaultGemmRowCut ? index - line * apart % 8 : index;
  }

  /// The type that the panel's elements are taken for.
  GemmElement element_taken_for() const {
    if (fault == kFaultGemmTypeIgnored && panel.element == GemmElement::f16)
      return GemmElement::bf16;
    if (fault == kFaultGemmE5m2AsE4m3 && panel.element == GemmElement::e5m2)
      return GemmElement::e4m3;
    return panel.element;
  }

  float element(std::uint64_t row, std::uint64_t k) const {
    const bool is_a = operand == GemmOperand::a;
    if (!is_a && fault == kFaultGemmShardStale) {
      const Shard shard = last_shard(panel);
      if (row + 1 == shard.first_row + shard.rows) return std::numeric_limits<float>::quiet_NaN();
    }
    if (k >= panel.k) return fault == kFaultGemmPadding ? 1.0F : 0.0F;
    if (fault == kFaultGemmLastProduct && k + 1 == panel.k) return 0.0F;
    std::uint16_t bits = panel.elements[index_read_for(row_read_for(row), k)];
    if (is_a && fault == kFaultGemmBitFlip && row == panel.rows / 2 && k == panel.k / 2) bits ^= 1U;
    const float value = from_element(element_taken_for(), bits);
    return fault == kFaultGemmNonFiniteZeroed && !std::isfinite(value) ? 0.0F : value;
  }
};

/// One operand's part of a block: rows outside the panel are zero.
void read_rows(const Reader& reader, std::uint64_t first, std::uint64_t k, std::uint64_t depth,
               std::array<std::array<float, kDepth>, kTile>& to) {
  for (std::uint64_t i = 0; i < kTile; ++i) {
    const std::uint64_t row = first + i;
    if (row >= reader.panel.rows) {
      to[i].fill(0.0F);
    } else if (reader.fault == kNoFault && reader.panel.plain) {
      const std::uint16_t* from = reader.panel.elements.data() + row * reader.panel.pitch + k;
      for (std::uint64_t d = 0; d < depth; ++d) to[i][d] = from_bf16(from[d]);
    } else {
      for (std::uint64_t d = 0; d < depth; ++d) to[i][d] = reader.element(row, k + d);
    }
  }
}

/// sums += a b over `depth` values of k; a strip of 4 x 8 sums stays in registers.
void accumulate(const Block& block, std::uint64_t depth, Sums& sums) {
  for (std::uint64_t i0 = 0; i0 < kTile; i0 += kStrip) {
    for (std::uint64_t j0 = 0; j0 < kTile; j0 += kLanes) {
      float strip[kStrip][kLanes];
      for (std::uint64_t i = 0; i < kStrip; ++i)
        for (std::uint64_t j = 0; j < kLanes; ++j) strip[i][j] = sums[i0 + i][j0 + j];
      for (std::uint64_t d = 0; d < depth; ++d)
        for (std::uint64_t i = 0; i < kStrip; ++i)
          for (std::uint64_t j = 0; j < kLanes; ++j)
            strip[i][j] += block.a[i0 + i][d] * block.b[d][j0 + j];
      for (std::uint64_t i = 0; i < kStrip; ++i)
        for (std::uint64_t j = 0; j < kLanes; ++j) sums[i0 + i][j0 + j] = strip[i][j];
    }
  }
}

/// The same where kFaultGemmInfinityTimesZero is: a product that only its factors' kinds make NaN
/// adds nothing.
void accumulate_without_invalid(const Block& block, std::uint64_t depth, Sums& sums) {
  for (std::uint64_t i = 0; i < kTile; ++i)
    for (std::uint64_t j = 0; j < kTile; ++j)
      for (std::uint64_t d = 0; d < depth; ++d) {
        const float product = block.a[i][d] * block.b[d][j];
        const bool invalid =
            std::isnan(product) && !std::isnan(block.a[i][d]) && !std::isnan(block.b[d][j]);
        if (!invalid) sums[i][j] += product;
      }
}

/// Cut to what the tensor core keeps of a sum of fp8 products: 13 bits behind the first.
void cut_to_tensor_core(Sums& sums) {
  for (auto& line : sums)
    for (float& sum : line)
      sum = std::bit_cast<float>(std::bit_cast<std::uint32_t>(sum) & ~((1U << (23 - 13)) - 1));
}

void add_to(Sums& sums, const Sums& more) {
  for (std::uint64_t i = 0; i < kTile; ++i)
    for (std::uint64_t j = 0; j < kTile; ++j) sums[i][j] += more[i][j];
}

/// All of K for the tile at (row, col).
void sum_tile(const Reader& a, const Reader& b, std::uint64_t row, std::uint64_t col, Sums& sums) {
  const Fault fault = a.fault;
  // The padding is multiplied too: zeros add nothing, and an engine that moves 16 bytes at a time
  // cannot help it.
  std::uint64_t end = (a.panel.k + 7) / 8 * 8;
  if (fault == kFaultGemmTailBlock) end = a.panel.k / kDepth * kDepth;
  const bool keeps_partial = fault == kFaultGemmPartialKept && is_fp8(a.panel.element);
  Sums promoted{};  // of kFaultGemmPartialKept
  Block block{};
  std::array<std::array<float, kDepth>, kTile> turned{};
  for (std::uint64_t k = 0; k < end; k += kDepth) {
    const std::uint64_t depth = std::min(kDepth, end - k);
    const bool stale = fault == kFaultGemmStaleStage && k == kStages * kDepth;
    const std::uint64_t from = stale ? 0 : k;
    read_rows(a, row, from, depth, block.a);
    read_rows(b, col, from, depth, turned);
    for (std::uint64_t j = 0; j < kTile; ++j)
      for (std::uint64_t d = 0; d < depth; ++d) block.b[d][j] = turned[j][d];
    if (fault == kFaultGemmInfinityTimesZero)
      accumulate_without_invalid(block, depth, sums);
    else
      accumulate(block, depth, sums);
    if (fault == kFaultGemmNarrowSum)
      for (auto& line : sums)
        for (float& sum : line) sum = from_bf16(to_bf16(sum));
    if (fault == kFaultGemmUnpromoted && is_fp8(a.panel.element)) cut_to_tensor_core(sums);
    if (keeps_partial && ((k + depth) % kPartial == 0 || k + depth == end)) add_to(promoted, sums);
  }
  if (keeps_partial) sums = promoted;
}

float read_element(const GemmBlock& c, std::uint64_t row, std::uint64_t col) {
  const std::uint8_t* const from = c.bytes.data() + c.offset_of(row, col);
  if (c.output == GemmOutput::f32) {
    float value = 0;
    std::memcpy(&value, from, sizeof value);
    return value;
  }
  std::uint16_t bits = 0;
  std::memcpy(&bits, from, sizeof bits);
  return c.output == GemmOutput::bf16 ? from_bf16(bits) : from_f16(bits);
}

/// alpha sum + beta C.
float blended(const GemmBlock& c, std::uint64_t row, std::uint64_t col, float sum, Fault fault) {
  const float alpha = fault == kFaultGemmAlphaIgnored ? 1.0F : c.alpha;
  const bool reads = c.beta != 0 || fault == kFaultGemmUnusedRead;
  if (!reads || fault == kFaultGemmBetaIgnored) return alpha * sum;
  const float old = read_element(c, row, col);
  if (fault == kFaultGemmAlphaTwice) return alpha * (sum + c.beta * old);
  return std::fma(c.beta, old, alpha * sum);
}

std::uint16_t narrowed(GemmOutput output, float value, Fault fault) {
  const bool cut = fault == kFaultGemmTruncated;
  if (output == GemmOutput::bf16) {
    if (std::isnan(value)) return 0x7fc0;
    const auto upper = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
    return cut ? upper : to_bf16(value);
  }
  const std::uint16_t nearest = to_f16(value);
  const bool away = std::abs(from_f16(nearest)) > std::abs(value);
  return static_cast<std::uint16_t>(cut && away ? nearest - 1 : nearest);
}

/// The largest finite number.
float largest(GemmOutput output) {
  if (output == GemmOutput::f32) return std::numeric_limits<float>::max();
  return output == GemmOutput::bf16 ? from_bf16(0x7f7f) : from_f16(0x7bff);
}

void store_element(const GemmBlock& c, std::uint64_t row, std::uint64_t col, float sum,
                   Fault fault) {
  float value = blended(c, row, col, sum, fault);
  std::uint8_t* to = c.bytes.data() + c.offset_of(row, col);
  if (fault == kFaultGemmPackedC)
    to = c.bytes.data() + kGuardBytes + row * std::min(c.pitch(), c_row_pitch(c.cols, c.output)) +
         col * c_element_bytes(c.output);
  if (fault == kFaultGemmCRowCut) to -= row * c.pitch() % 16;
  const bool middle = row == c.rows / 2 && col == c.cols / 2;
  const std::uint32_t ulp = fault == kFaultGemmUlp && middle ? 1 : 0;
  if (fault == kFaultGemmOffByOne && middle) value += 1.0F;
  if (fault == kFaultGemmInfinityUnsigned && std::isinf(value)) value = std::abs(value);
  if (fault == kFaultGemmInfinitySaturated && std::isinf(value))
    value = std::copysign(largest(c.output), value);
  if (c.output == GemmOutput::f32) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) + ulp;
    std::memcpy(to, &bits, sizeof bits);
    return;
  }
  const auto bits = static_cast<std::uint16_t>(narrowed(c.output, value, fault) + ulp);
  std::memcpy(to, &bits, sizeof bits);
}

/// Stores the part of the tile at (row, col) that lies inside the block.
void store_tile(const GemmBlock& c, std::uint64_t row, std::uint64_t col, Sums& sums, Fault fault) {
  const std::uint64_t rows = std::min(kTile, c.rows - row);
  std::uint64_t cols = std::min(kTile, c.cols - col);
  if (fault == kFaultGemmTransposed && row == c.rows / kTile * kTile - kTile &&
      col == c.cols / kTile * kTile - kTile)
    for (std::uint64_t i = 0; i < kCorner; ++i)
      for (std::uint64_t j = 0; j < i; ++j) std::swap(sums[i][j], sums[j][i]);
  if (fault == kFaultGemmOddColumn) cols = cols / 2 * 2;
  if (fault == kFaultGemmNanSpread)
    for (std::uint64_t i = 0; i < rows; ++i)
      for (std::uint64_t j = cols; j-- > 1;)
        if (std::isnan(sums[i][j - 1])) sums[i][j] = sums[i][j - 1];
  for (std::uint64_t i = 0; i < rows; ++i)
    for (std::uint64_t j = 0; j < cols; ++j) store_element(c, row + i, col + j, sums[i][j], fault);
}

void store_outside(const GemmBlock& c, Fault fault) {
  if (c.rows == 0 || c.cols == 0) return;
  const auto clear_element = [&c](std::uint64_t row, std::uint64_t col) {
    std::fill_n(c.bytes.data() + c.offset_of(row, col), c_element_bytes(c.output), std::uint8_t{0});
  };
  const auto clear_before = [&c](std::uint64_t row) {
    std::fill_n(c.bytes.data() + c.offset_of(row, 0) - 2, 2, std::uint8_t{0});
  };
  if (fault == kFaultGemmFrontGuard) c.bytes[kGuardBytes - 1] = 0;
  if (fault == kFaultGemmBackGuard) clear_element(c.rows, 0);
  if (fault == kFaultGemmNeighbourWritten)
    for (std::uint64_t row = 0; row < c.rows; ++row)
      if (row * c.pitch() % 4 != 0) clear_before(row);
  if (fault == kFaultGemmPaddingWritten && c.pitch() > c.cols * c_element_bytes(c.output))
    clear_element(c.rows - 1, c.cols);
}

}  // namespace

void multiply_blocked(const GemmPanel& a, const GemmPanel& b, const GemmBlock& c, Fault fault) {
  const Reader read_a{a, GemmOperand::a, fault};
  const Reader read_b{b, GemmOperand::b, fault};
  const bool multiplies = c.alpha != 0 && a.k != 0;
  if (!multiplies && fault == kFaultGemmNothingDone) return;
  Sums sums{};
  std::uint64_t tiles_done = 0;
  for (std::uint64_t row = 0; row < c.rows; row += kTile) {
    for (std::uint64_t col = 0; col < c.cols; col += kTile) {
      const bool last = row + kTile >= c.rows && col + kTile >= c.cols;
      const Sums before = sums;
      if (fault != kFaultGemmNotCleared || tiles_done != 1) sums = {};
      if (multiplies) sum_tile(read_a, read_b, row, col, sums);
      if (fault == kFaultGemmTileTwice && last && tiles_done > 0) sums = before;
      const bool unwritten =
          (fault == kFaultGemmTileUnwritten && last) ||
          (fault == kFaultGemmOneRound && c.sm_budget != 0 && tiles_done >= c.sm_budget);
      if (!unwritten) store_tile(c, row, col, sums, fault);
      ++tiles_done;
    }
  }
  store_outside(c, fault);
}

void multiply_plain(const GemmPanel& a, const GemmPanel& b, const GemmBlock& c) {
  for (std::uint64_t i = 0; i < c.rows; ++i) {
    for (std::uint64_t j = 0; j < c.cols; ++j) {
      float sum = 0;
      const std::uint64_t end = c.alpha == 0 ? 0 : a.k;
      for (std::uint64_t k = 0; k < end; ++k)
        sum = std::fma(from_element(a.element, a.elements[a.index_of(i, k, a.pitch)]),
                       from_element(b.element, b.elements[b.index_of(j, k, b.pitch)]), sum);
      store_element(c, i, j, sum, kNoFault);
    }
  }
}

}  // namespace tidemark
