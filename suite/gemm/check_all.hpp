// Goes over all elements of a block of C with what each should be: the frame of the checks that
// work elements out on the host.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

#include "suite/gemm/block.hpp"
#include "suite/gemm/loops.hpp"

namespace tidemark {

inline constexpr std::uint64_t kColumnsInCache = 32;
// What a core does in about a nanosecond, to say how many threads are worth their start.
inline constexpr std::uint64_t kIntegersPerNs = 30;
inline constexpr std::uint64_t kFloatsPerNs = 7;
inline constexpr std::uint64_t kJudgeNs = 4;

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
inline double old_value(const Gemm& gemm, std::uint64_t i, std::uint64_t j) {
  if (gemm.beta == 0) return 0;  // whatever is there, it is not read
  const float value =
      gemm_value(gemm.inputs, GemmOperand::c, gemm.seed, gemm.rows.first + i, gemm.cols.first + j);
  return element_value(gemm.output, element_of(gemm.output, value));
}

/// alpha sum + beta C(i, j).
inline double blended(const Gemm& gemm, double sum, std::uint64_t i, std::uint64_t j) {
  return double{gemm.alpha} * sum + double{gemm.beta} * old_value(gemm, i, j);
}

struct JudgedElement {
  std::uint32_t expected = 0;  // bits
  bool right = false;
};

/// Has sums_of(i, j, sums) work out elements (i, j), (i, j + 1), ... of the block and
/// judge(i, j, sum, actual bits) -> JudgedElement hold each element against its sum, unless
/// all_right(i, j, sums) says at once that none is wrong. `ns` is about what one element takes.
template <class Sum, class SumsOf, class AllRight, class Judge>
WrongElements check_all(const Gemm& gemm, const RunResult& result, std::uint64_t ns,
                        const SumsOf& sums_of, const AllRight& all_right, const Judge& judge) {
  WrongElements wrong;
  std::mutex mutex;
  const std::uint64_t work_ns = gemm.rows.count * gemm.cols.count * ns;
  in_parallel(gemm.rows.count, work_ns, [&](std::uint64_t first, std::uint64_t last) {
    WrongElements found;
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): sums_of fills what is read
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
inline JudgedElement judge_exact(GemmOutput output, double value, std::uint32_t actual) {
  const std::uint32_t expected = element_of(output, static_cast<float>(value));
  return {expected, same_element(output, expected, actual)};
}

}  // namespace tidemark
