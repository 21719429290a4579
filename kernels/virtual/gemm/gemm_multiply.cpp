// Multiplies two panels in tiles of 64 x 64 and blocks of 64 k, as an engine on a GPU would walk
// them. Every element is the sum of its products in order of k, so that neither the tiles nor the
// number of ranks change a bit.
#include "kernels/virtual/gemm/gemm_multiply.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <optional>
#include <vector>

#include "kernels/virtual/gemm/gemm_faults.hpp"
#include "kernels/virtual/gemm/gemm_read.hpp"
#include "kernels/virtual/gemm/gemm_store.hpp"

namespace tidemark::kernels {
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

}  // namespace tidemark::kernels
