// Works out elements of C on the host: in whole numbers where the inputs are, else in fp64.
#include "suite/gemm/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <span>

#include "kernels/ops/payload.hpp"
#include "suite/gemm/block.hpp"
#include "suite/gemm/parallel.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kSamples = 64;
constexpr std::uint64_t kLargestProduct = 9;  // of two small integers, 3 x 3
constexpr std::uint64_t kColumnsInCache = 32;

float value_of(const Gemm& gemm, GemmOperand which, std::uint64_t row, std::uint64_t k) {
  return from_element(gemm.element,
                      gemm_element(gemm.inputs, which, gemm.seed, row, k, gemm.element));
}

/// Rows of one operand as T, each element exactly.
template <class T>
std::vector<T> operand(const Gemm& gemm, GemmOperand which, const Range& range) {
  std::vector<T> rows(range.count * gemm.k);
  in_parallel(range.count, rows.size(), [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      for (std::uint64_t k = 0; k < gemm.k; ++k)
        rows[i * gemm.k + k] = static_cast<T>(value_of(gemm, which, range.first + i, k));
  });
  return rows;
}

/// C(i, j) of the block as it was before the product, in its own type.
double old_value(const Gemm& gemm, std::uint64_t i, std::uint64_t j) {
  if (gemm.beta == 0) return 0;  // whatever is there, it is not read
  const float value =
      gemm_value(gemm.inputs, GemmOperand::c, gemm.seed, gemm.rows.first + i, gemm.cols.first + j);
  return element_value(gemm.output, element_of(gemm.output, value));
}

/// alpha sum + beta C(i, j).
double blended(const Gemm& gemm, double sum, std::uint64_t i, std::uint64_t j) {
  return double{gemm.alpha} * sum + double{gemm.beta} * old_value(gemm, i, j);
}

std::int32_t dot(std::span<const std::int16_t> a, std::span<const std::int16_t> b) {
  std::int32_t sum = 0;
  for (std::size_t k = 0; k < a.size(); ++k) sum += std::int32_t{a[k]} * b[k];
  return sum;
}

/// Four sums side by side, so that the compiler may use vectors without reordering anything.
double dot(std::span<const float> a, std::span<const float> b) {
  std::array<double, 4> sums{};
  std::size_t k = 0;
  for (; k + 4 <= a.size(); k += 4)
    for (std::size_t lane = 0; lane < 4; ++lane)
      sums[lane] += static_cast<double>(a[k + lane]) * static_cast<double>(b[k + lane]);
  for (; k < a.size(); ++k) sums[0] += static_cast<double>(a[k]) * static_cast<double>(b[k]);
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// Half a unit in the last place at `magnitude` (IEEE 754 RNE): bf16 has 8 significant bits, fp16
/// 11 and none below 2^-24.
double half_ulp(GemmOutput output, double magnitude) {
  int exponent = 0;
  std::frexp(magnitude, &exponent);  // magnitude = f 2^exponent, 0.5 <= f < 1
  if (output == GemmOutput::bf16) return std::ldexp(1.0, exponent - 9);
  return std::ldexp(1.0, std::max(exponent - 12, -25));
}

bool within(GemmOutput output, double expected, double actual, double bound) {
  if (output != GemmOutput::f32) bound += half_ulp(output, std::abs(expected) + bound);
  return std::abs(actual - expected) <= bound;
}

/// Runs check(i, j, actual bits) -> Judged over all elements of the block; `steps` is what one
/// takes.
template <class Check>
WrongElements check_all(const Gemm& gemm, const RunResult& result, std::uint64_t steps,
                        const Check& check) {
  WrongElements wrong;
  std::mutex mutex;
  const std::uint64_t work = gemm.rows.count * gemm.cols.count * steps;
  in_parallel(gemm.rows.count, work, [&](std::uint64_t first, std::uint64_t last) {
    WrongElements found;
    // Some columns of B at a time, so that they stay in the cache for all rows.
    for (std::uint64_t j0 = 0; j0 < gemm.cols.count; j0 += kColumnsInCache)
      for (std::uint64_t i = first; i < last; ++i)
        for (std::uint64_t j = j0; j < std::min(j0 + kColumnsInCache, gemm.cols.count); ++j) {
          const std::uint32_t actual = element_bits(gemm, result, i, j);
          const auto [expected, right] = check(i, j, actual);
          if (!right) found.add(i, j, expected, actual);
        }
    const std::lock_guard lock(mutex);
    wrong.add(found);
  });
  return wrong;
}

struct Judged {
  std::uint32_t expected = 0;  // bits
  bool right = false;
};

/// `value` is exact in fp32.
Judged judge_exact(GemmOutput output, double value, std::uint32_t actual) {
  const std::uint32_t expected = element_of(output, static_cast<float>(value));
  return {expected, same_element(output, expected, actual)};
}

Judged judge_near(GemmOutput output, double sum, double bound, std::uint32_t actual) {
  return {element_of(output, static_cast<float>(sum)),
          within(output, sum, element_value(output, actual), bound)};
}

/// Euclidean norms of the rows of one operand.
std::vector<double> norms(const Gemm& gemm, GemmOperand which, const Range& range) {
  std::vector<double> result(range.count);
  in_parallel(range.count, range.count * gemm.k, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      double squares = 0;
      for (std::uint64_t k = 0; k < gemm.k; ++k) {
        const double value = value_of(gemm, which, range.first + i, k);
        squares += value * value;
      }
      result[i] = std::sqrt(squares);
    }
  });
  return result;
}

/// The corners first, then elements drawn from the seed.
Range sampled(std::uint64_t extent, std::uint64_t first, std::uint64_t hash, std::uint64_t index,
              bool at_end) {
  if (extent == 0) return {};
  const std::uint64_t at = index < 4 ? (at_end ? extent - 1 : 0) : hash % extent;
  return {.first = first + at, .count = 1};
}

}  // namespace

bool is_exact(const Gemm& gemm) {
  if (gemm.inputs != GemmInputs::small_integers) return false;
  if (gemm.alpha == 1 && gemm.beta == 0) return gemm.k <= (1U << 24) / kLargestProduct;
  const double alpha = 4 * std::abs(double{gemm.alpha});
  const double beta = 4 * std::abs(double{gemm.beta});
  const bool quarters =
      alpha == std::floor(alpha) && beta == std::floor(beta) && alpha <= 16 && beta <= 16;
  const double most = static_cast<double>(gemm.k * kLargestProduct) * std::max(alpha, 4.0);
  return quarters && most + 3 * beta <= double{1U << 24};
}

double sum_error_bound(std::uint64_t k, double norm_a, double norm_b) {
  const auto terms = static_cast<double>(k);
  return (terms / 16 + std::sqrt(terms) + 4) * std::ldexp(1.0, -23) * norm_a * norm_b;
}

std::vector<Miscompare> verify_exactly(const Gemm& gemm, const RunResult& result,
                                       std::uint32_t row_index) {
  const auto a = operand<std::int16_t>(gemm, GemmOperand::a, gemm.rows);
  const auto b = operand<std::int16_t>(gemm, GemmOperand::b, gemm.cols);
  const WrongElements wrong =
      check_all(gemm, result, gemm.k, [&](std::uint64_t i, std::uint64_t j, std::uint32_t actual) {
        const std::int32_t sum =
            dot({a.data() + i * gemm.k, gemm.k}, {b.data() + j * gemm.k, gemm.k});
        return judge_exact(gemm.output, blended(gemm, sum, i, j), actual);
      });
  if (wrong.count == 0) return {};
  return {miscompare_of(gemm, wrong, row_index)};
}

std::vector<Miscompare> verify_within_bound(const Gemm& gemm, const RunResult& result,
                                            std::uint32_t row_index) {
  const auto a = operand<float>(gemm, GemmOperand::a, gemm.rows);
  const auto b = operand<float>(gemm, GemmOperand::b, gemm.cols);
  const std::vector<double> norm_a = norms(gemm, GemmOperand::a, gemm.rows);
  const std::vector<double> norm_b = norms(gemm, GemmOperand::b, gemm.cols);
  const WrongElements wrong =
      check_all(gemm, result, gemm.k, [&](std::uint64_t i, std::uint64_t j, std::uint32_t actual) {
        const double sum = dot({a.data() + i * gemm.k, gemm.k}, {b.data() + j * gemm.k, gemm.k});
        const double expected = blended(gemm, sum, i, j);
        double bound = sum_error_bound(gemm.k, norm_a[i], norm_b[j]);
        // alpha times the sum and beta times C are each rounded once more.
        if (!is_plain(gemm))
          bound = std::abs(double{gemm.alpha}) * bound +
                  std::ldexp(std::abs(expected) + std::abs(double{gemm.alpha} * sum), -23);
        return judge_near(gemm.output, expected, bound, actual);
      });
  if (wrong.count == 0) return {};
  return {miscompare_of(gemm, wrong, row_index)};
}

std::vector<Miscompare> verify_near(const Gemm& gemm, const RunResult& result,
                                    const RunResult& reference, std::uint32_t row_index) {
  const std::vector<double> norm_a = norms(gemm, GemmOperand::a, gemm.rows);
  const std::vector<double> norm_b = norms(gemm, GemmOperand::b, gemm.cols);
  Gemm sums = gemm;
  sums.output = GemmOutput::f32;
  const WrongElements wrong =
      check_all(gemm, result, 1, [&](std::uint64_t i, std::uint64_t j, std::uint32_t actual) {
        const double sum = element_value(GemmOutput::f32, element_bits(sums, reference, i, j));
        const double bound = 2 * sum_error_bound(gemm.k, norm_a[i], norm_b[j]);
        return judge_near(gemm.output, sum, bound, actual);
      });
  if (wrong.count == 0) return {};
  return {miscompare_of(gemm, wrong, row_index)};
}

std::vector<Miscompare> verify_samples(const Gemm& gemm, const RunResult& result,
                                       std::uint32_t row_index) {
  WrongElements wrong;
  for (std::uint64_t s = 0; s < kSamples; ++s) {
    const std::uint64_t hash = splitmix64(gemm.seed + splitmix64(s));
    const Range row = sampled(gemm.rows.count, gemm.rows.first, hash, s, s % 2 == 1);
    const Range col = sampled(gemm.cols.count, gemm.cols.first, splitmix64(hash), s, s / 2 == 1);
    if (row.count == 0 || col.count == 0) return {};
    const auto a = operand<float>(gemm, GemmOperand::a, row);
    const auto b = operand<float>(gemm, GemmOperand::b, col);
    const std::uint64_t i = row.first - gemm.rows.first;
    const std::uint64_t j = col.first - gemm.cols.first;
    const std::uint32_t actual = element_bits(gemm, result, i, j);
    const double sum = dot(a, b);
    const Judged judged =
        is_exact(gemm)
            ? judge_exact(gemm.output, sum, actual)
            : judge_near(gemm.output, sum,
                         sum_error_bound(gemm.k, std::sqrt(dot(a, a)), std::sqrt(dot(b, b))),
                         actual);
    if (!judged.right) wrong.add(i, j, judged.expected, actual);
  }
  if (wrong.count == 0) return {};
  return {
      miscompare_of(gemm, wrong, row_index,
                    fmt::format("C({}, {}): expected {}, got {}; {} of {} sampled elements wrong",
                                gemm.rows.first + wrong.row, gemm.cols.first + wrong.col,
                                element_text(gemm.output, wrong.expected),
                                element_text(gemm.output, wrong.actual), wrong.count, kSamples))};
}

}  // namespace tidemark
