// The loops of the verification, on all cores and by the widest vectors of the CPU.
#pragma once

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "kernels/ops/gemm/gemm.hpp"

namespace tidemark {

// The inner loops of the verification, which run over every element of products of 16384 cubed:
// straight, without branches, on contiguous memory, so that a compiler makes vectors of them.

/// Vectors of random signs that verify_freivalds() multiplies by at once.
inline constexpr std::size_t kSignVectors = 8;
using Lanes = std::array<double, kSignVectors>;  // one number for each vector

/// Rows that sum_products() and columns that spread_products() take at once.
inline constexpr std::size_t kRowsAtOnce = 4;
using RowsAtOnce = std::array<std::span<const float>, kRowsAtOnce>;  // all of one length

/// Elements first_k ... first_k + to.size() - 1 of row `row` of A, or of column `row` of B, as the
/// numbers behind gemm_element(). `row` counts in the whole matrix.
void make_operand(const Gemm& gemm, GemmOperand which, std::uint64_t row, std::uint64_t first_k,
                  std::span<float> to);

/// The same as integers, for all GemmInputs but normal; throws Error for those.
void make_operand(const Gemm& gemm, GemmOperand which, std::uint64_t row, std::uint64_t first_k,
                  std::span<std::int16_t> to);

/// The numbers behind consecutive elements of C, which start at `bytes`; exact.
void read_elements(GemmOutput output, const std::uint8_t* bytes, std::span<float> to);

/// Whether a NaN or an infinity is among `count` elements that start at `bytes`.
bool has_non_finite(GemmOutput output, const std::uint8_t* bytes, std::size_t count);

/// sums[j] = the sum over k of a[k] b[j a.size() + k], for each j. Exact while it fits.
void dot_rows(std::span<const std::int16_t> a, const std::int16_t* b, std::span<std::int32_t> sums);
/// The same in fp64.
void dot_rows(std::span<const float> a, const float* b, std::span<double> sums);

/// Whether the elements of C that start at `bytes` are `sums`, rounded to their type; zeros may
/// have either sign. Sums are exact in fp32. Of fp16 it does not know, and says no.
bool are_rounded(GemmOutput output, std::span<const std::int32_t> sums, const std::uint8_t* bytes);

/// The sum of the squares of `values`, in fp64.
double sum_of_squares(std::span<const float> values);

/// sums[r] += the sum over k of rows[r][k] x[k], in fp64.
void sum_products(const RowsAtOnce& rows, const Lanes* x, std::array<Lanes, kRowsAtOnce>& sums);

/// to[k] += the sum over r of rows[r][k] x[r], and squares[k] += that of rows[r][k] squared; fp64.
void spread_products(const RowsAtOnce& rows, const std::array<Lanes, kRowsAtOnce>& x, Lanes* to,
                     double* squares);

// Splits a loop of the verification over the cores, so that a product of 8192 cubed is checked in
// seconds.

/// How many CPUs this process may run on: where it is bound, hardware_concurrency() says more.
inline std::uint64_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails where the machine has more CPUs than fit into the set.
  if (sched_getaffinity(0, sizeof(set), &set) == 0)
    return static_cast<std::uint64_t>(std::max(1, CPU_COUNT(&set)));
  return std::max(1U, std::thread::hardware_concurrency());
}

/// Calls part(first, last) for consecutive parts of [0, count), each in a thread of its own, and
/// returns when all are done. `work_ns` is about how long one core would take for all of it: below
/// some tenths of a millisecond the calling thread does it alone. `part` must not throw.
template <class Part>
void in_parallel(std::uint64_t count, std::uint64_t work_ns, const Part& part) {
  constexpr std::uint64_t kWorthAThread = 300'000;  // starting and joining one takes some 30 us
  const std::uint64_t cores = usable_cores();
  const std::uint64_t threads = std::min({cores, count, work_ns / kWorthAThread + 1});
  if (threads <= 1) {
    if (count > 0) part(std::uint64_t{0}, count);
    return;
  }
  std::vector<std::jthread> running;  // joined by their destructors
  running.reserve(threads);
  for (std::uint64_t i = 0; i < threads; ++i) {
    const std::uint64_t first = count * i / threads;
    const std::uint64_t last = count * (i + 1) / threads;
    try {
      running.emplace_back(part, first, last);
    } catch (const std::system_error&) {
      part(first, last);  // the machine gives no more threads: slower, but not wrong
    }
  }
}

}  // namespace tidemark
