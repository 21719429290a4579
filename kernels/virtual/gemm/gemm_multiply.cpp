// Multiplies tiles on the virtual device and stores C, and the faults of both.
#include "kernels/virtual/gemm/gemm_multiply.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/virtual/gemm/gemm_panels.hpp"

namespace tidemark {

// Names and steps of the faults of the virtual matrix multiplication.

namespace {

constexpr FaultInfo kGemmFaults[] = {
    {kFaultGemmLastProduct, OpKind::gemm, "gemm_last_product", "sum: the last k is left out"},
    {kFaultGemmTailBlock, OpKind::gemm, "gemm_tail_block",
     "sum: an incomplete last block of 64 k is left out"},
    {kFaultGemmPadding, OpKind::gemm, "gemm_padding",
     "read: the padding behind the rows of both panels holds ones"},
    {kFaultGemmTileUnwritten, OpKind::gemm, "gemm_tile_unwritten",
     "store: the last tile is not stored"},
    {kFaultGemmUlp, OpKind::gemm, "gemm_ulp",
     "store: the element in the middle of the block is one unit in the last place off"},
    {kFaultGemmOffByOne, OpKind::gemm, "gemm_off_by_one",
     "store: the element in the middle of the block is one too large before it is rounded"},
    {kFaultGemmRowsExchanged, OpKind::gemm, "gemm_rows_exchanged",
     "read: the last two rows of the A panel are exchanged"},
    {kFaultGemmNeighbourRow, OpKind::gemm, "gemm_neighbour_row",
     "read: the last row of the B panel is taken from its neighbour"},
    {kFaultGemmShardStale, OpKind::gemm, "gemm_shard_stale",
     "gather: the last row of the last shard of B has not arrived when it is read"},
    {kFaultGemmShardDisplaced, OpKind::gemm, "gemm_shard_displaced",
     "gather: the last shard of A lies one row further back"},
    {kFaultGemmNarrowSum, OpKind::gemm, "gemm_narrow_sum",
     "sum: the sum is rounded to bf16 after each block of 64 k"},
    {kFaultGemmTruncated, OpKind::gemm, "gemm_truncated",
     "store: 16-bit output is cut off, not rounded to nearest even"},
    {kFaultGemmBackGuard, OpKind::gemm, "gemm_back_guard",
     "store: one element behind the block is written"},
    {kFaultGemmFrontGuard, OpKind::gemm, "gemm_front_guard",
     "store: the byte before the block is written"},
    {kFaultGemmTransposed, OpKind::gemm, "gemm_transposed",
     "store: the first 8 x 8 elements of the last whole tile are transposed"},
    {kFaultGemmNotCleared, OpKind::gemm, "gemm_not_cleared",
     "sum: the second tile starts from the sums of the first"},
    {kFaultGemmOddColumn, OpKind::gemm, "gemm_odd_column",
     "store: columns are stored in pairs, an odd last one is not stored"},
    {kFaultGemmStaleStage, OpKind::gemm, "gemm_stale_stage",
     "read: the fifth block of 64 k is multiplied before it replaced the first"},
    {kFaultGemmBitFlip, OpKind::gemm, "gemm_bit_flip",
     "read: the lowest bit of the element in the middle of the A panel is flipped"},
    {kFaultGemmTileTwice, OpKind::gemm, "gemm_tile_twice",
     "store: the last tile holds the sums of the tile before it"},
    {kFaultGemmPaddingWritten, OpKind::gemm, "gemm_padding_written",
     "store: one element behind the last column of the last row is written, where rows are padded"},
    {kFaultGemmUnusedRead, OpKind::gemm, "gemm_unused_read",
     "store: C is read, and taken beta times, also where beta is 0"},
    {kFaultGemmBetaIgnored, OpKind::gemm, "gemm_beta_ignored",
     "store: beta is taken for 0, C is overwritten"},
    {kFaultGemmAlphaIgnored, OpKind::gemm, "gemm_alpha_ignored", "store: alpha is taken for 1"},
    {kFaultGemmAlphaTwice, OpKind::gemm, "gemm_alpha_twice", "store: alpha multiplies beta C, too"},
    {kFaultGemmMajorIgnored, OpKind::gemm, "gemm_major_ignored",
     "read: squares of 64 of an MN-major operand are read along k"},
    {kFaultGemmPackedRows, OpKind::gemm, "gemm_packed_rows",
     "read: rows of A and B are taken to follow each other, whatever lda and ldb say"},
    {kFaultGemmPackedC, OpKind::gemm, "gemm_packed_c",
     "store: rows of C are written one behind the other, whatever ldc says"},
    {kFaultGemmTypeIgnored, OpKind::gemm, "gemm_type_ignored",
     "read: elements of fp16 are taken for bf16"},
    {kFaultGemmNothingDone, OpKind::gemm, "gemm_nothing_done",
     "store: C is left alone where k or alpha is 0"},
    {kFaultGemmRowCut, OpKind::gemm, "gemm_row_cut",
     "read: rows of A and B that start off 16 bytes are read from the 16 bytes that they start in"},
    {kFaultGemmCRowCut, OpKind::gemm, "gemm_c_row_cut",
     "store: rows of C that start off 16 bytes are written to the 16 bytes that they start in"},
    {kFaultGemmNeighbourWritten, OpKind::gemm, "gemm_neighbour_written",
     "store: the element before every row of C that starts off 4 bytes is written"},
    {kFaultGemmNonFiniteZeroed, OpKind::gemm, "gemm_non_finite_zeroed",
     "read: elements that are no finite numbers are taken for 0"},
    {kFaultGemmInfinityTimesZero, OpKind::gemm, "gemm_infinity_times_zero",
     "sum: an infinity times 0 adds 0"},
    {kFaultGemmInfinitySaturated, OpKind::gemm, "gemm_infinity_saturated",
     "store: an infinity is stored as the largest finite number of its sign"},
    {kFaultGemmInfinityUnsigned, OpKind::gemm, "gemm_infinity_unsigned",
     "store: infinities are stored without their sign"},
    {kFaultGemmNanSpread, OpKind::gemm, "gemm_nan_spread",
     "store: the element right of a NaN of the same tile is NaN, too"},
    {kFaultGemmOneRound, OpKind::gemm, "gemm_one_round",
     "store: under an SM budget, tiles behind the first of each SM are not stored"},
    {kFaultGemmUnpromoted, OpKind::gemm, "gemm_unpromoted",
     "sum: sums of fp8 products are cut to the 14 bits of the tensor core all along k"},
    {kFaultGemmPartialKept, OpKind::gemm, "gemm_partial_kept",
     "sum: the sums of 128 k of fp8 start from those before them, which are then added again"},
    {kFaultGemmE5m2AsE4m3, OpKind::gemm, "gemm_e5m2_as_e4m3",
     "read: elements of e5m2 are taken for e4m3"},
    {kFaultGemmFlagEarly, OpKind::gemm, "gemm_flag_early",
     "gather: the word of a shard is set before its bytes are there"},
    {kFaultGemmFlagOfLastEpoch, OpKind::gemm, "gemm_flag_of_last_epoch",
     "gather: the word that an earlier gather left is taken for this one's"},
};

}  // namespace

std::span<const FaultInfo> gemm_faults() { return kGemmFaults; }

// Multiplies tiles on the virtual device and stores C.

// Multiplies two panels in tiles of 64 x 64 and blocks of 64 k, as an engine on a GPU would walk
// them. Every element is the sum of its products in order of k, so that neither the tiles nor the
// number of ranks change a bit.

namespace {

constexpr std::uint64_t kStages = 4;     // blocks that the ring of kFaultGemmStaleStage holds
constexpr std::uint64_t kStrip = 4;      // rows of a strip kept in registers
constexpr std::uint64_t kLanes = 8;      // columns of a strip
constexpr std::uint64_t kPartial = 128;  // k of fp8 that a tensor core sums before it is promoted

/// One block of both panels as fp32. B is turned, so that the inner loop runs along columns.
struct Block {
  GemmTileRows a;
  std::array<std::array<float, kGemmTile>, kGemmDepth> b;
};

/// sums += a b over `depth` values of k; a strip of 4 x 8 sums stays in registers.
void accumulate(const Block& block, std::uint64_t depth, GemmSums& sums) {
  for (std::uint64_t i0 = 0; i0 < kGemmTile; i0 += kStrip) {
    for (std::uint64_t j0 = 0; j0 < kGemmTile; j0 += kLanes) {
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
void accumulate_without_invalid(const Block& block, std::uint64_t depth, GemmSums& sums) {
  for (std::uint64_t i = 0; i < kGemmTile; ++i)
    for (std::uint64_t j = 0; j < kGemmTile; ++j)
      for (std::uint64_t d = 0; d < depth; ++d) {
        const float product = block.a[i][d] * block.b[d][j];
        const bool invalid =
            std::isnan(product) && !std::isnan(block.a[i][d]) && !std::isnan(block.b[d][j]);
        if (!invalid) sums[i][j] += product;
      }
}

/// Cut to what the tensor core keeps of a sum of fp8 products: 13 bits behind the first.
void cut_to_tensor_core(GemmSums& sums) {
  for (auto& line : sums)
    for (float& sum : line)
      sum = std::bit_cast<float>(std::bit_cast<std::uint32_t>(sum) & ~((1U << (23 - 13)) - 1));
}

void add_to(GemmSums& sums, const GemmSums& more) {
  for (std::uint64_t i = 0; i < kGemmTile; ++i)
    for (std::uint64_t j = 0; j < kGemmTile; ++j) sums[i][j] += more[i][j];
}

/// All of K for the tile at (row, col).
void sum_tile(const GemmReader& a, const GemmReader& b, std::uint64_t row, std::uint64_t col,
              GemmSums& sums) {
  const Fault fault = a.fault;
  // The padding is multiplied too: zeros add nothing, and an engine that moves 16 bytes at a time
  // cannot help it.
  std::uint64_t end = (a.panel.k + 7) / 8 * 8;
  if (fault == kFaultGemmTailBlock) end = a.panel.k / kGemmDepth * kGemmDepth;
  const bool keeps_partial = fault == kFaultGemmPartialKept && is_fp8(a.panel.element);
  GemmSums promoted{};  // of kFaultGemmPartialKept
  Block block{};
  GemmTileRows turned{};
  for (std::uint64_t k = 0; k < end; k += kGemmDepth) {
    const std::uint64_t depth = std::min(kGemmDepth, end - k);
    const bool stale = fault == kFaultGemmStaleStage && k == kStages * kGemmDepth;
    const std::uint64_t from = stale ? 0 : k;
    read_rows(a, row, from, depth, block.a);
    read_rows(b, col, from, depth, turned);
    for (std::uint64_t j = 0; j < kGemmTile; ++j)
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

std::vector<GemmTileStart> tiles_of(const GemmBlock& c) {
  std::vector<GemmTileStart> tiles;
  for (std::uint64_t row = 0; row < c.rows; row += kGemmTile)
    for (std::uint64_t col = 0; col < c.cols; col += kGemmTile) tiles.push_back({row, col});
  return tiles;
}

}  // namespace

bool multiply_blocked(const GemmPanel& a, const GemmPanel& b, const GemmBlock& c, Fault fault,
                      GemmArrivals* arrivals) {
  const GemmReader read_a{a, GemmOperand::a, fault};
  const GemmReader read_b{b, GemmOperand::b, fault};
  const bool multiplies = c.alpha != 0 && a.k != 0;
  if (!multiplies && fault == kFaultGemmNothingDone) return true;
  GemmSums sums{};
  std::uint64_t tiles_done = 0;
  std::vector<GemmTileStart> left = tiles_of(c);
  while (!left.empty()) {
    const std::optional<std::size_t> next = arrivals == nullptr ? 0 : arrivals->next(left);
    if (!next) return false;
    const auto [row, col] = left[*next];
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(*next));
    const GemmSums before = sums;
    if (fault != kFaultGemmNotCleared || tiles_done != 1) sums = {};
    if (multiplies) sum_tile(read_a, read_b, row, col, sums);
    if (fault == kFaultGemmTileTwice && left.empty() && tiles_done > 0) sums = before;
    const bool unwritten =
        (fault == kFaultGemmTileUnwritten && left.empty()) ||
        (fault == kFaultGemmOneRound && c.sm_budget != 0 && tiles_done >= c.sm_budget);
    if (!unwritten) store_tile(c, row, col, sums, fault);
    ++tiles_done;
  }
  store_outside(c, fault);
  return true;
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

// Blends, rounds and stores sums, as the faults of storing have it.

namespace {

constexpr std::uint64_t kCorner = 8;  // edge of the block that kFaultGemmTransposed turns

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

}  // namespace

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

void store_tile(const GemmBlock& c, std::uint64_t row, std::uint64_t col, GemmSums& sums,
                Fault fault) {
  const std::uint64_t rows = std::min(kGemmTile, c.rows - row);
  std::uint64_t cols = std::min(kGemmTile, c.cols - col);
  if (fault == kFaultGemmTransposed && row == c.rows / kGemmTile * kGemmTile - kGemmTile &&
      col == c.cols / kGemmTile * kGemmTile - kGemmTile)
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

}  // namespace tidemark
