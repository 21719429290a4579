// Products of which some elements of A or B are NaN or infinite: their rows and their verdict.
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>

#include "kernels/error.hpp"
#include "suite/gemm/check_all.hpp"
#include "suite/gemm/elements.hpp"
#include "suite/gemm/verify.hpp"

namespace tidemark {

// Adds to a sum of integers what the planted elements are multiplied to, in IEEE 754 arithmetic.

namespace {

double value_of(NonFinite value) {
  if (value == NonFinite::nan) return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return value == NonFinite::infinity ? infinity : -infinity;
}

/// One operand: its integers, also those in whose place something is planted. Their products end up
/// in sums that are no finite numbers, which they do not change.
struct Operand {
  const Gemm& gemm;
  GemmOperand which;
  Range range;
  Rows<std::int16_t> rows;

  Operand(const Gemm& of, GemmOperand operand_of, const Range& rows_of)
      : gemm(of),
        which(operand_of),
        range(rows_of),
        rows(operand<std::int16_t>(of, operand_of, rows_of)) {}

  /// Rows count inside the block.
  double at(std::uint64_t row, std::uint64_t k) const {
    for (const PlantedElement& planted : gemm.planted)
      if (planted.operand == which && planted.row == range.first + row && planted.k == k)
        return value_of(planted.value);
    return rows[row * gemm.k + k];
  }

  /// Adds those k at which something is planted in a row.
  void add_planted(std::uint64_t row, std::set<std::uint64_t>& ks) const {
    for (const PlantedElement& planted : gemm.planted)
      if (planted.operand == which && planted.row == range.first + row) ks.insert(planted.k);
  }
};

std::uint32_t quiet_nan(GemmOutput output) {
  if (output == GemmOutput::f32) return 0x7fc00000;
  return output == GemmOutput::bf16 ? 0x7fc0 : 0x7e00;
}

JudgedElement judge_nan(GemmOutput output, std::uint32_t actual) {
  const std::uint32_t poison = output == GemmOutput::f32 ? 0xffffffffU : 0xffffU;
  return {quiet_nan(output), actual != poison && std::isnan(element_value(output, actual))};
}

}  // namespace

std::vector<Miscompare> verify_planted(const Gemm& gemm, const RunResult& result,
                                       std::uint32_t row_index) {
  if (!is_exact(gemm))
    throw Error("gemm: planted elements are judged among small integers that sum exactly only");
  const Operand a(gemm, GemmOperand::a, gemm.rows);
  const Operand b(gemm, GemmOperand::b, gemm.cols);
  const std::uint64_t k = gemm.k;
  const auto sums_of = [&](std::uint64_t i, std::uint64_t j, std::span<std::int32_t> sums) {
    dot_rows({a.rows.get() + i * k, k}, b.rows.get() + j * k, sums);
  };
  const auto judge = [&](std::uint64_t i, std::uint64_t j, std::int32_t sum, std::uint32_t actual) {
    std::set<std::uint64_t> ks;
    a.add_planted(i, ks);
    b.add_planted(j, ks);
    double all = sum;
    for (const std::uint64_t at : ks) all += a.at(i, at) * b.at(j, at);
    const double expected = blended(gemm, all, i, j);
    return std::isnan(expected) ? judge_nan(gemm.output, actual)
                                : judge_exact(gemm.output, expected, actual);
  };
  const std::uint64_t ns = 10 * kJudgeNs + k / kIntegersPerNs;
  const WrongElements wrong =
      check_all<std::int32_t>(gemm, result, ns, sums_of, nobody_knows<std::int32_t>, judge);
  if (wrong.count == 0) return {};
  return {miscompare_of(gemm, wrong, row_index)};
}

// Small integers around the planted elements, so that whatever they do not touch has one right
// answer.

namespace {

// One tile, less and more, tails of every kind, more k than a ring.
constexpr GemmShape kSmall[] = {
    {64, 64, 64}, {65, 67, 72}, {33, 130, 71}, {3, 5, 7}, {70, 40, 264}};
constexpr GemmShape kCuda[] = {{257, 511, 1031}, {520, 264, 200}, {300, 520, 136}};
constexpr GemmShape kRungs = {257, 300, 328};
constexpr GemmOutput kOutputs[] = {GemmOutput::f32, GemmOutput::bf16, GemmOutput::f16};

Gemm product(const GemmShape& shape, Plant plant) {
  Gemm gemm = whole_product(shape, GemmInputs::small_integers);
  gemm.planted = plant(shape.m, shape.n, shape.k);
  return gemm;
}

}  // namespace

std::vector<Op> planted_rows(const RunContext& context, const std::vector<Plant>& plants) {
  std::vector<Op> rows;
  const bool on_gpu = context.device == DeviceKind::cuda;
  std::size_t turn = 0;
  for (const Plant plant : plants)
    for (const GemmElement element : {GemmElement::bf16, GemmElement::f16})
      for (const GemmOutput output : kOutputs) {
        const auto add = [&](const GemmShape& shape) {
          Gemm gemm = product(shape, plant);
          gemm.element = element;
          gemm.output = output;
          if (turn % 4 == 1) gemm.a_major = Major::mn;
          if (turn % 4 >= 2) gemm.b_major = Major::mn;
          if (turn % 5 == 4) gemm.alpha = -2;
          rows.emplace_back(gemm);
        };
        add(kSmall[turn % std::size(kSmall)]);
        if (on_gpu) add(kCuda[turn % std::size(kCuda)]);
        ++turn;
      }
  if (!on_gpu) return rows;
  for (const Plant plant : plants)
    for (const GemmOutput output : {GemmOutput::f32, GemmOutput::bf16})
      for (const GemmRung rung : kGemmRungs) {
        Gemm gemm = product(kRungs, plant);
        gemm.output = output;
        gemm.rung = rung;
        rows.emplace_back(gemm);
      }
  return rows;
}

}  // namespace tidemark
