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
#include "suite/gemm/check_all.hpp"
#include "suite/gemm/loops.hpp"

namespace tidemark {
namespace {

constexpr std::uint64_t kSampledBlocks = 16;
constexpr std::uint64_t kSampledEdge = 16;  // rows and columns of a block

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

JudgedElement judge_near(GemmOutput output, double sum, double bound, std::uint32_t actual) {
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

/// Rows, or columns, of block `index` of the samples: the corners of C first, then drawn by `hash`.
Range sampled(const Range& all, std::uint64_t hash, std::uint64_t index, bool at_end) {
  const std::uint64_t count = std::min(kSampledEdge, all.count);
  const std::uint64_t furthest = all.count - count;
  const std::uint64_t at = index < 4 ? (at_end ? furthest : 0) : hash % (furthest + 1);
  return {.first = all.first + at, .count = count};
}

/// Every element of the part of C that `part` names, worked out in fp64. Adds what is wrong,
/// counted inside the block of `gemm`.
void check_part(const Gemm& gemm, const RunResult& result, const Gemm& part, WrongElements& wrong) {
  const std::uint64_t k = gemm.k;
  const auto a = operand<float>(part, GemmOperand::a, part.rows);
  const auto b = operand<float>(part, GemmOperand::b, part.cols);
  const std::vector<double> norm_b = norms(b, part.cols.count, k);
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): dot_rows fills what is read
  std::array<double, kSampledEdge> sums;
  for (std::uint64_t r = 0; r < part.rows.count; ++r) {
    const std::span<const float> row(a.get() + r * k, k);
    dot_rows(row, b.get(), std::span(sums).first(part.cols.count));
    const double norm_a = norm_of(row);
    for (std::uint64_t c = 0; c < part.cols.count; ++c) {
      const std::uint64_t i = part.rows.first - gemm.rows.first + r;
      const std::uint64_t j = part.cols.first - gemm.cols.first + c;
      const std::uint32_t actual = element_bits(gemm, result, i, j);
      const JudgedElement judged =
          is_exact(gemm) ? judge_exact(gemm.output, sums[c], actual)
                         : judge_near(gemm.output, sums[c],
                                      sum_error_bound(gemm.element, k, norm_a, norm_b[c]), actual);
      if (!judged.right) wrong.add(i, j, judged.expected, actual);
    }
  }
}

}  // namespace

bool is_exact(const Gemm& gemm) {
  if (gemm.inputs == GemmInputs::normal) return false;
  const std::uint64_t sum = largest_sum(gemm.inputs, gemm.k);
  if (gemm.alpha == 1 && gemm.beta == 0) return sum <= 1U << 24;
  const double alpha = 4 * std::abs(double{gemm.alpha});
  const double beta = 4 * std::abs(double{gemm.beta});
  const bool quarters =
      alpha == std::floor(alpha) && beta == std::floor(beta) && alpha <= 16 && beta <= 16;
  const double most = static_cast<double>(sum) * std::max(alpha, 4.0);
  return quarters && most + largest_integer(gemm.inputs) * beta <= double{1U << 24};
}

double sum_error_bound(GemmElement element, std::uint64_t k, double norm_a, double norm_b) {
  const auto terms = static_cast<double>(k);
  double unit = (terms / 16 + std::sqrt(terms) + 4) * std::ldexp(1.0, -23);
  if (is_fp8(element)) {
    const auto stage = static_cast<double>(std::min<std::uint64_t>(k, kPromotedEvery));
    unit += (stage + 2 * std::ceil(stage / 32)) * std::ldexp(1.0, -13);
  }
  return unit * norm_a * norm_b;
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
  const double unit_bound = sum_error_bound(gemm.element, k, 1, 1);
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
  const double unit_bound = sum_error_bound(gemm.element, gemm.k, 1, 1);
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
  if (gemm.rows.count == 0 || gemm.cols.count == 0) return {};
  WrongElements wrong;
  std::mutex mutex;
  const std::uint64_t edge_ns = kSampledEdge * gemm.k * (1 + kSampledEdge / kFloatsPerNs);
  in_parallel(kSampledBlocks, kSampledBlocks * edge_ns,
              [&](std::uint64_t first, std::uint64_t last) {
                for (std::uint64_t s = first; s < last; ++s) {
                  const std::uint64_t hash = splitmix64(gemm.seed + splitmix64(s));
                  Gemm part = gemm;
                  part.rows = sampled(gemm.rows, hash, s, s % 2 == 1);
                  part.cols = sampled(gemm.cols, splitmix64(hash), s, s / 2 == 1);
                  WrongElements found;
                  check_part(gemm, result, part, found);
                  const std::lock_guard lock(mutex);
                  wrong.add(found);
                }
              });
  if (wrong.count == 0) return {};
  return {miscompare_of(
      gemm, wrong, row_index,
      fmt::format(
          "C({}, {}): expected {}, got {}; {} elements wrong in {} sampled blocks of {} x {}",
          gemm.rows.first + wrong.row, gemm.cols.first + wrong.col,
          element_text(gemm.output, wrong.expected), element_text(gemm.output, wrong.actual),
          wrong.count, kSampledBlocks, kSampledEdge, kSampledEdge))};
}

}  // namespace tidemark
