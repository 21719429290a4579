// Multiplies C, A and B by vectors of random signs in fp64 and compares row by row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "kernels/ops/payload.hpp"
#include "suite/gemm/block.hpp"
#include "suite/gemm/elements.hpp"
#include "suite/gemm/loops.hpp"
#include "suite/gemm/verify.hpp"

namespace tidemark {
namespace {

constexpr double kSumDeviations = 8;
constexpr double kRoundingDeviations = 4;
constexpr std::uint64_t kBlock = 256;  // elements of a row at a time: what they add to stays in L1
using Block = std::array<std::array<float, kBlock>, kRowsAtOnce>;
using RowSums = std::array<Lanes, kRowsAtOnce>;

/// The first `count` elements of each row.
RowsAtOnce first_of(const Block& block, std::uint64_t count) {
  RowsAtOnce rows;
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = std::span(block[r]).first(count);
  return rows;
}

/// Entries of the vectors for one column of C.
Lanes signs(const Gemm& gemm, std::uint64_t col) {
  const std::uint64_t hash = splitmix64(splitmix64(gemm.seed ^ 0xf7e1ULL) + col);
  Lanes lanes;
  for (std::size_t v = 0; v < kSignVectors; ++v) lanes[v] = ((hash >> v) & 1U) != 0 ? -1.0 : 1.0;
  return lanes;
}

std::vector<Lanes> all_signs(const Gemm& gemm) {
  std::vector<Lanes> x(gemm.cols.count);
  for (std::uint64_t j = 0; j < x.size(); ++j) x[j] = signs(gemm, gemm.cols.first + j);
  return x;
}

/// B x, and how large B is.
struct Projected {
  std::vector<Lanes> bx;        // one entry for each k
  std::vector<double> squares;  // of the elements of B, summed over columns, for each k
};

Projected project(const Gemm& gemm, const std::vector<Lanes>& x) {
  Projected projected{.bx = std::vector<Lanes>(gemm.k), .squares = std::vector<double>(gemm.k)};
  // Each thread has a range of k and so its own sums.
  in_parallel(gemm.k, gemm.k * x.size(), [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t k = first; k < last; k += kBlock) {
      const std::uint64_t count = std::min(kBlock, last - k);
      for (std::uint64_t j = 0; j < x.size(); j += kRowsAtOnce) {
        Block columns{};  // zeros behind the last one, which add nothing
        RowSums signs_of_columns{};
        for (std::size_t c = 0; c < std::min<std::uint64_t>(kRowsAtOnce, x.size() - j); ++c) {
          make_operand(gemm, GemmOperand::b, gemm.cols.first + j + c, k,
                       std::span(columns[c]).first(count));
          signs_of_columns[c] = x[j + c];
        }
        spread_products(first_of(columns, count), signs_of_columns, &projected.bx[k],
                        &projected.squares[k]);
      }
    }
  });
  return projected;
}

struct RowCheck {
  // The largest difference over the vectors; a row that nobody checked is wrong.
  double off = std::numeric_limits<double>::infinity();
  double allowed = 0;  // for each of them
};

/// Sums over a row, of some rows.
struct Rows {
  RowSums products{};                         // with the vectors
  std::array<double, kRowsAtOnce> squares{};  // of its elements
};

/// Over rows i ... of `length` elements, where fill(r, at, to) writes those of row i + r from `at`
/// on, with entries of `vectors`; `count` rows, the rest is zero.
template <class Fill>
Rows sum_over(std::uint64_t length, std::size_t count, const Lanes* vectors, const Fill& fill) {
  Rows sums;
  Block block{};
  for (std::uint64_t at = 0; at < length; at += kBlock) {
    const std::uint64_t elements = std::min(kBlock, length - at);
    for (std::size_t r = 0; r < count; ++r) {
      const std::span<float> to = std::span(block[r]).first(elements);
      fill(r, at, to);
      sums.squares[r] += sum_of_squares(to);
    }
    sum_products(first_of(block, elements), vectors + at, sums.products);
  }
  return sums;
}

/// Checks rows i ... i + count - 1, at most kRowsAtOnce.
void check_rows(const Gemm& gemm, const RunResult& result, const std::vector<Lanes>& x,
                const Projected& projected, double norm_b, std::uint64_t i, std::size_t count,
                RowCheck* checks) {
  const Rows abx = sum_over(gemm.k, count, projected.bx.data(),
                            [&](std::size_t r, std::uint64_t k, std::span<float> to) {
                              make_operand(gemm, GemmOperand::a, gemm.rows.first + i + r, k, to);
                            });
  const Rows cx =
      sum_over(x.size(), count, x.data(), [&](std::size_t r, std::uint64_t j, std::span<float> to) {
        const std::uint8_t* const row = row_bytes(gemm, result, i + r);
        read_elements(gemm.output, row + j * element_bytes(gemm.output), to);
      });
  const auto k = static_cast<double>(gemm.k);
  for (std::size_t r = 0; r < count; ++r) {
    RowCheck check{.off = 0, .allowed = 0};
    for (std::size_t v = 0; v < kSignVectors; ++v) {
      const double off = std::abs(cx.products[r][v] - abx.products[r][v]);
      if (!(off <= check.off)) check.off = off;  // also when it is no number
    }
    if (!is_exact(gemm))
      check.allowed = kSumDeviations * std::ldexp(1.0, -24) * (1 + std::sqrt(k) / 16) *
                      std::sqrt(abx.squares[r]) * norm_b;
    // What tensor cores cut off of fp8 may be on one side in every column: the bound of one element
    // times the norms of the columns, which add up to sqrt(columns) norm_b at most.
    if (!is_exact(gemm) && is_fp8(gemm.element))
      check.allowed += sum_error_bound(gemm.element, gemm.k, std::sqrt(abx.squares[r]), norm_b) *
                       std::sqrt(static_cast<double>(gemm.cols.count));
    if (gemm.output != GemmOutput::f32)
      check.allowed += kRoundingDeviations * (gemm.output == GemmOutput::bf16 ? 0x1p-8 : 0x1p-11) *
                       std::sqrt(cx.squares[r]);
    checks[r] = check;
  }
}

/// The element of row `i` that is furthest from its fp64 value: the row is known to be wrong, a
/// person wants to know where.
WrongElements furthest_in_row(const Gemm& gemm, const RunResult& result, std::uint64_t i) {
  std::vector<float> a(gemm.k);
  make_operand(gemm, GemmOperand::a, gemm.rows.first + i, 0, std::span(a));
  std::vector<double> expected(gemm.cols.count);
  in_parallel(gemm.cols.count, gemm.cols.count * gemm.k,
              [&](std::uint64_t first, std::uint64_t last) {
                std::vector<float> b(gemm.k);
                for (std::uint64_t j = first; j < last; ++j) {
                  make_operand(gemm, GemmOperand::b, gemm.cols.first + j, 0, std::span(b));
                  dot_rows(a, b.data(), std::span(&expected[j], 1));
                }
              });
  WrongElements furthest;
  double distance = -1;
  for (std::uint64_t j = 0; j < gemm.cols.count; ++j) {
    const std::uint32_t actual = element_bits(gemm, result, i, j);
    const double value = element_value(gemm.output, actual);
    const double off =
        std::isnan(value) ? std::numeric_limits<double>::infinity() : std::abs(value - expected[j]);
    if (off <= distance) continue;
    distance = off;
    furthest = {};
    furthest.add(i, j, element_of(gemm.output, static_cast<float>(expected[j])), actual);
  }
  return furthest;
}

}  // namespace

std::vector<Miscompare> verify_freivalds(const Gemm& gemm, const RunResult& result,
                                         std::uint32_t row_index) {
  const std::vector<Lanes> x = all_signs(gemm);
  const Projected projected = project(gemm, x);
  double squares_b = 0;
  for (const double squares : projected.squares) squares_b += squares;
  const double norm_b = std::sqrt(squares_b);
  std::vector<RowCheck> checks(gemm.rows.count);
  const std::uint64_t groups = (checks.size() + kRowsAtOnce - 1) / kRowsAtOnce;
  in_parallel(
      groups, gemm.rows.count * (gemm.k + x.size()), [&](std::uint64_t first, std::uint64_t last) {
        for (std::uint64_t i = first * kRowsAtOnce;
             i < std::min<std::uint64_t>(last * kRowsAtOnce, checks.size()); i += kRowsAtOnce) {
          const std::size_t count = std::min(kRowsAtOnce, checks.size() - i);
          check_rows(gemm, result, x, projected, norm_b, i, count, &checks[i]);
        }
      });
  // Not "off > allowed": a sum that is not a number must not pass.
  const auto is_wrong = [](const RowCheck& check) { return !(check.off <= check.allowed); };
  const auto first = std::find_if(checks.begin(), checks.end(), is_wrong);
  if (first == checks.end()) return {};
  const auto wrong_rows = std::count_if(first, checks.end(), is_wrong);
  const WrongElements furthest =
      furthest_in_row(gemm, result, static_cast<std::uint64_t>(first - checks.begin()));
  return {miscompare_of(
      gemm, furthest, row_index,
      fmt::format("row {} of C: its sum over random signs is off by {:.3g}, {:.3g} is allowed; "
                  "furthest is C({}, {}): expected {}, got {}; {} of {} rows wrong",
                  gemm.rows.first + furthest.row, first->off, first->allowed,
                  gemm.rows.first + furthest.row, gemm.cols.first + furthest.col,
                  element_text(gemm.output, furthest.expected),
                  element_text(gemm.output, furthest.actual), wrong_rows, gemm.rows.count))};
}

}  // namespace tidemark
