// Works out elements of C on the host: in whole numbers where the inputs are, else in fp64.
#include "suite/gemm/elements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <memory>
#include <mutex>
#include <span>

#include "kernels/ops/payload.hpp"
#include "suite/gemm/block.hpp"
#include "suite/gemm/loops.hpp"
#include "suite/gemm/parallel.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kSamples = 64;
constexpr std::uint64_t kLargestProduct = 9;  // of two small integers, 3 x 3
constexpr std::uint64_t kColumnsInCache = 32;
// What a core does in about a nanosecond, to say how many threads are worth their start.
constexpr std::uint64_t kIntegersPerNs = 30;
constexpr std::uint64_t kFloatsPerNs = 7;
constexpr std::uint64_t kJudgeNs = 4;

/// Rows of one operand, k elements each. Not a vector: that would write zeros first, on one core.
template <class T>
using Rows = std::unique_ptr<T[]>;

/// Rows of one operand as T, each element exactly.
template <class T>
Rows<T> operand(const Gemm& gemm, GemmOperand which, const Range& range) {
  const std::uint64_t elements = range.count * gemm.k;
  auto rows = std::make_unique_for_overwrite<T[]>(elements);
  in_parallel(range.count, elements, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      make_operand(gemm, which, range.first + i, 0, std::span(rows.get() + i * gemm.k, gemm.k));
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

/// Half a unit in the last place at `magnitude` (IEEE 754 RNE): bf16 has 8 significant bits, fp16
/// 11 and none below 2^-24.
double half_ulp(GemmOutput output, double magnitude) {
  constexpr std::uint64_t kExponent = 0x7ff0000000000000ULL;
  // The largest power of two that is no larger; frexp() takes ten times as long.
  const auto power = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) & kExponent);
  return output == GemmOutput::bf16 ? power * 0x1p-8 : std::max(power * 0x1p-11, 0x1p-25);
}

bool within(GemmOutput output, double expected, double actual, double bound) {
  if (output != GemmOutput::f32) bound += half_ulp(output, std::abs(expected) + bound);
  return std::abs(actual - expected) <= bound;
}

struct Judged {
  std::uint32_t expected = 0;  // bits
  bool right = false;
};

/// Has sums_of(i, j, sums) work out elements (i, j), (i, j + 1), ... of the block and
/// judge(i, j, sum, actual bits) -> Judged hold each element against its sum, unless
/// all_right(i, j, sums) says at once that none is wrong. `ns` is about what one element takes.
template <class Sum, class SumsOf, class AllRight, class Judge>
WrongElements check_all(const Gemm& gemm, const RunResult& result, std::uint64_t ns,
                        const SumsOf& sums_of, const AllRight& all_right, const Judge& judge) {
  WrongElements wrong;
  std::mutex mutex;
  const std::uint64_t work_ns = gemm.rows.count * gemm.cols.count * ns;
  in_parallel(gemm.rows.count, work_ns, [&](std::uint64_t first, std::uint64_t last) {
    WrongElements found;
    std::array<Sum, kColumnsInCache> sums;
    // Some columns of B at a time, so that they stay in the cache for all rows.
    for (std::uint64_t j0 = 0; j0 < gemm.cols.count; j0 += kColumnsInCache) {
      const std::uint64_t columns = std::min(kColumnsInCache, gemm.cols.count - j0);
      for (std::uint64_t i = first; i < last; ++i) {
        sums_of(i, j0, std::span(sums).first(columns));
        if (all_right(i, j0, std::span<const Sum>(sums).first(columns))) continue;
        for (std::uint64_t j = j0; j < j0 + columns; ++j) {
          const std::uint32_t actual = element_bits(gemm, result, i, j);
          const auto [expected, right] = judge(i, j, sums[j - j0], actual);
          if (!right) found.add(i, j, expected, actual);
        }
      }
    }
    const std::lock_guard lock(mutex);
    wrong.add(found);
  });
  return wrong;
}

/// For check_all(), where each element has to be looked at.
template <class Sum>
constexpr bool nobody_knows(std::uint64_t /*i*/, std::uint64_t /*j*/, std::span<const Sum>) {
  return false;
}

/// `value` is exact in fp32.
Judged judge_exact(GemmOutput output, double value, std::uint32_t actual) {
  const std::uint32_t expected = element_of(output, static_cast<float>(value));
  return {expected, same_element(output, expected, actual)};
}

Judged judge_near(GemmOutput output, double sum, double bound, std::uint32_t actual) {
  return {element_of(output, static_cast<float>(sum)),
          within(output, sum, element_value(output, actual), bound)};
}

double norm_of(std::span<const float> row) { return std::sqrt(sum_of_squares(row)); }

/// Euclidean norms of the rows of one operand.
std::vector<double> norms(const Gemm& gemm, GemmOperand which, const Range& range) {
  std::vector<double> result(range.count);
  in_parallel(range.count, range.count * gemm.k, [&](std::uint64_t first, std::uint64_t last) {
    std::vector<float> row(gemm.k);
    for (std::uint64_t i = first; i < last; ++i) {
      make_operand(gemm, which, range.first + i, 0, std::span(row));
      result[i] = norm_of(row);
    }
  });
  return result;
}

/// The same for rows that are there already.
std::vector<double> norms(const Rows<float>& rows, std::uint64_t count, std::uint64_t k) {
  std::vector<double> result(count);
  in_parallel(count, count * k / 4, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) result[i] = norm_of({rows.get() + i * k, k});
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
  const std::uint64_t k = gemm.k;
  const auto sums_of = [&](std::uint64_t i, std::uint64_t j, std::span<std::int32_t> sums) {
    dot_rows({a.get() + i * k, k}, b.get() + j * k, sums);
  };
  const auto judge = [&](std::uint64_t i, std::uint64_t j, std::int32_t sum, std::uint32_t actual) {
    return judge_exact(gemm.output, blended(gemm, sum, i, j), actual);
  };
  const bool unscaled = gemm.alpha == 1 && gemm.beta == 0;
  const auto all_right = [&](std::uint64_t i, std::uint64_t j, std::span<const std::int32_t> sums) {
    return unscaled && are_rounded(gemm.output, sums,
                                   row_bytes(gemm, result, i) + j * element_bytes(gemm.output));
  };
  const WrongElements wrong = check_all<std::int32_t>(gemm, result, kJudgeNs + k / kIntegersPerNs,
                                                      sums_of, all_right, judge);
  if (wrong.count == 0) return {};
  return {miscompare_of(gemm, wrong, row_index)};
}

std::vector<Miscompare> verify_within_bound(const Gemm& gemm, const RunResult& result,
                                            std::uint32_t row_index) {
  const auto a = operand<float>(gemm, GemmOperand::a, gemm.rows);
  const auto b = operand<float>(gemm, GemmOperand::b, gemm.cols);
  const std::uint64_t k = gemm.k;
  const std::vector<double> norm_a = norms(a, gemm.rows.count, k);
  const std::vector<double> norm_b = norms(b, gemm.cols.count, k);
  const double unit_bound = sum_error_bound(k, 1, 1);
  const auto sums_of = [&](std::uint64_t i, std::uint64_t j, std::span<double> sums) {
    dot_rows({a.get() + i * k, k}, b.get() + j * k, sums);
  };
  const auto judge = [&](std::uint64_t i, std::uint64_t j, double sum, std::uint32_t actual) {
    const double expected = blended(gemm, sum, i, j);
    double bound = unit_bound * norm_a[i] * norm_b[j];
    // alpha times the sum and beta times C are each rounded once more.
    if (!is_plain(gemm))
      bound = std::abs(double{gemm.alpha}) * bound +
              std::ldexp(std::abs(expected) + std::abs(double{gemm.alpha} * sum), -23);
    return judge_near(gemm.output, expected, bound, actual);
  };
  const WrongElements wrong = check_all<double>(gemm, result, kJudgeNs + k / kFloatsPerNs, sums_of,
                                                nobody_knows<double>, judge);
  if (wrong.count == 0) return {};
  return {miscompare_of(gemm, wrong, row_index)};
}

std::vector<Miscompare> verify_near(const Gemm& gemm, const RunResult& result,
                                    const RunResult& reference, std::uint32_t row_index) {
  const std::vector<double> norm_a = norms(gemm, GemmOperand::a, gemm.rows);
  const std::vector<double> norm_b = norms(gemm, GemmOperand::b, gemm.cols);
  const double unit_bound = sum_error_bound(gemm.k, 1, 1);
  Gemm sums = gemm;
  sums.output = GemmOutput::f32;
  const auto sums_of = [&](std::uint64_t i, std::uint64_t j, std::span<float> to) {
    read_elements(GemmOutput::f32, row_bytes(sums, reference, i) + j * sizeof(float), to);
  };
  const auto judge = [&](std::uint64_t i, std::uint64_t j, float sum, std::uint32_t actual) {
    const double bound = 2 * unit_bound * norm_a[i] * norm_b[j];
    return judge_near(gemm.output, sum, bound, actual);
  };
  const WrongElements wrong =
      check_all<float>(gemm, result, kJudgeNs, sums_of, nobody_knows<float>, judge);
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
    double sum = 0;
    dot_rows({a.get(), gemm.k}, b.get(), std::span(&sum, 1));
    const Judged judged = is_exact(gemm)
                              ? judge_exact(gemm.output, sum, actual)
                              : judge_near(gemm.output, sum,
                                           sum_error_bound(gemm.k, norm_of({a.get(), gemm.k}),
                                                           norm_of({b.get(), gemm.k})),
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
