// Multiplies C, A and B by vectors of random signs in fp64 and compares row by row.
#include "suite/gemm/freivalds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kernels/ops/payload.hpp"
#include "suite/gemm/block.hpp"
#include "suite/gemm/elements.hpp"
#include "suite/gemm/parallel.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kVectors = 8;
constexpr double kSumDeviations = 8;
constexpr double kRoundingDeviations = 4;
using Lanes = std::array<double, kVectors>;  // one number for each vector

double value_of(const Gemm& gemm, GemmOperand which, std::uint64_t row, std::uint64_t k) {
  return from_bf16(gemm_element(gemm.inputs, which, gemm.seed, row, k));
}

/// Entries of the vectors for one column of C.
Lanes signs(const Gemm& gemm, std::uint64_t col) {
  const std::uint64_t hash = splitmix64(splitmix64(gemm.seed ^ 0xf7e1ULL) + col);
  Lanes lanes;
  for (std::size_t v = 0; v < kVectors; ++v) lanes[v] = ((hash >> v) & 1U) != 0 ? -1.0 : 1.0;
  return lanes;
}

std::vector<Lanes> all_signs(const Gemm& gemm) {
  std::vector<Lanes> x(gemm.cols.count);
  for (std::uint64_t j = 0; j < x.size(); ++j) x[j] = signs(gemm, gemm.cols.first + j);
  return x;
}

void add_scaled(Lanes& to, double factor, const Lanes& lanes) {
  for (std::size_t v = 0; v < kVectors; ++v) to[v] += factor * lanes[v];
}

/// B x, and how large B is.
struct Projected {
  std::vector<Lanes> bx;        // one entry for each k
  std::vector<double> squares;  // of the elements of B, summed over columns, for each k
};

Projected project(const Gemm& gemm, const std::vector<Lanes>& x) {
  Projected projected{.bx = std::vector<Lanes>(gemm.k), .squares = std::vector<double>(gemm.k)};
  // Each thread has a range of k and so its own sums.
  in_parallel(gemm.k, gemm.k * x.size() * kVectors, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t j = 0; j < x.size(); ++j)
      for (std::uint64_t k = first; k < last; ++k) {
        const double b = value_of(gemm, GemmOperand::b, gemm.cols.first + j, k);
        add_scaled(projected.bx[k], b, x[j]);
        projected.squares[k] += b * b;
      }
  });
  return projected;
}

struct RowCheck {
  // The largest difference over the vectors; a row that nobody checked is wrong.
  double off = std::numeric_limits<double>::infinity();
  double allowed = 0;  // for each of them
};

RowCheck check_row(const Gemm& gemm, const RunResult& result, const std::vector<Lanes>& x,
                   const Projected& projected, double norm_b, std::uint64_t i) {
  Lanes difference{};
  double squares_a = 0;
  double squares_c = 0;
  for (std::uint64_t k = 0; k < gemm.k; ++k) {
    const double a = value_of(gemm, GemmOperand::a, gemm.rows.first + i, k);
    add_scaled(difference, -a, projected.bx[k]);
    squares_a += a * a;
  }
  for (std::uint64_t j = 0; j < x.size(); ++j) {
    const double c = element_value(gemm.output, element_bits(gemm, result, i, j));
    add_scaled(difference, c, x[j]);
    squares_c += c * c;
  }
  RowCheck check{.off = 0, .allowed = 0};
  for (const double off : difference)
    if (!(std::abs(off) <= check.off)) check.off = std::abs(off);  // also when it is no number
  const auto k = static_cast<double>(gemm.k);
  if (!is_exact(gemm))
    check.allowed = kSumDeviations * std::ldexp(1.0, -24) * (1 + std::sqrt(k) / 16) *
                    std::sqrt(squares_a) * norm_b;
  if (gemm.output == GemmOutput::bf16)
    check.allowed += kRoundingDeviations * std::ldexp(1.0, -8) * std::sqrt(squares_c);
  return check;
}

/// The element of row `i` that is furthest from its fp64 value: the row is known to be wrong, a
/// person wants to know where.
WrongElements furthest_in_row(const Gemm& gemm, const RunResult& result, std::uint64_t i) {
  std::vector<double> a(gemm.k);
  for (std::uint64_t k = 0; k < gemm.k; ++k)
    a[k] = value_of(gemm, GemmOperand::a, gemm.rows.first + i, k);
  std::vector<double> expected(gemm.cols.count);
  in_parallel(gemm.cols.count, gemm.cols.count * gemm.k,
              [&](std::uint64_t first, std::uint64_t last) {
                for (std::uint64_t j = first; j < last; ++j)
                  for (std::uint64_t k = 0; k < gemm.k; ++k)
                    expected[j] += a[k] * value_of(gemm, GemmOperand::b, gemm.cols.first + j, k);
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
  in_parallel(gemm.rows.count, gemm.rows.count * (gemm.k + x.size()) * kVectors,
              [&](std::uint64_t first, std::uint64_t last) {
                for (std::uint64_t i = first; i < last; ++i)
                  checks[i] = check_row(gemm, result, x, projected, norm_b, i);
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
