// Verifies products: every element, samples, the vote of all ranks, Freivalds' check, and elements
// that are NaN or infinite.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "suite/case.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

// Judges one rank's block of a product: is every element written, nothing else touched, and each
// number right?

/// What is wrong with `result`; empty when nothing is found. In this order: size, guards, padding
/// of rows, elements that are not finite, values. Integers are compared exactly, every element
/// where the block takes at most 2^31 products, otherwise samples and Freivalds' check; normal
/// inputs within the rounding of fp32 sums, every element up to 2^27 products, then samples and
/// Freivalds' check. With alpha, beta or planted elements all is worked out element by element
/// whatever its size. Miscompare::row is `row_index`.
std::vector<Miscompare> verify_gemm(const Gemm& gemm, const RunResult& result,
                                    std::uint32_t row_index);

/// The same; a block whose panels came over a transport is computed once more from panels that
/// `device` makes itself, and every bit is compared; GPUs that computed the same block are compared
/// with each other (Gemm::vote); and a block too large for the host is computed a second time on
/// `device` by its reference engine, without a transport, and every element is compared: integers
/// bit for bit, normal inputs within the rounding of two fp32 sums. Throws Error when the reference
/// engine gives no answer.
std::vector<Miscompare> verify_gemm(const Gemm& gemm, const RunResult& result,
                                    std::uint32_t row_index, Device& device);

/// Every element of `result` against the same block as the reference engine computed it. Bits must
/// agree; zeros may differ in sign.
std::vector<Miscompare> verify_against(const Gemm& gemm, const RunResult& result,
                                       const RunResult& reference, std::uint32_t row_index);

// All ranks computed the same product: who differs from the others?

/// What RunResult::digests of a Gemm::vote say against this rank: tiles whose bits are not those of
/// more than half of all ranks, or, where no half agrees, that nobody knows who is wrong. Empty
/// where this rank is of the majority in every tile. Miscompare::row is `row_index`.
std::vector<Miscompare> verify_vote(const Gemm& gemm, const RunResult& result,
                                    std::uint32_t row_index);

// Freivalds' check: C x = A (B x) for vectors x of random signs. It reads every element of C and
// costs three matrix-vector products in place of a matrix product.

/// Checks all of C with 8 vectors of random signs drawn from the seed.
///
/// Integers with fp32 output: everything is exact in fp64 and nothing is allowed to differ. One
/// wrong element in a row is always seen, several that might cancel with probability 255/256.
///
/// Otherwise the sum of row i may be off by
///   8 2^-24 (sqrt(k) + k / 16) |a_i| |B| / sqrt(k)   the fp32 sums, and
///   4 2^-8 |c_i|                                     rounding to bf16, where the output is bf16,
///   4 2^-11 |c_i|                                    or fp16,
/// and of fp8 by sum_error_bound() in every column, which is too wide to see much,
/// with |.| the Euclidean (Frobenius) norms. |a_i| |b_j| / sqrt(k) is the size of a sum of k
/// products of random sign; k / 16 steps of a tensor core each cut off at most 2^-23 of it, on
/// average half of that, and k roundings to nearest come to sqrt(k) such halves. Rounding to bf16
/// moves an element by at most 2^-8 of it. The errors of the columns meet random signs, so they add
/// like a random walk, of which several standard deviations are allowed; steps of 16 k that all cut
/// off come to a tenth of the first term.
/// With normal inputs one element that is wrong by 1 % of its typical size sqrt(k) is seen up to
/// about 4096 columns and k = 4096 (2.6 % at 8192). With bf16 output it takes 1.6 % of that size
/// times sqrt(columns), which is all of it at 4096 columns: this check alone does not guard bf16.
///
/// Source: Freivalds, "Probabilistic machines can use less running time", IFIP 1977.
std::vector<Miscompare> verify_freivalds(const Gemm& gemm, const RunResult& result,
                                         std::uint32_t row_index);

// Judges products of which some elements of A or B are NaN or infinite: who is touched by them, and
// with which sign.

/// Every element of C where `gemm.planted` is not empty. An element whose row of A and column of B
/// are finite must be exact. Any other is what IEEE 754-2019 makes of its products (6.1, 7.2: an
/// infinity times 0 and the sum of both infinities are NaN, a NaN stays one): an infinity of that
/// sign, or a NaN. A NaN may have any bits but those of the poison, which nobody wrote. Throws
/// Error unless is_exact().
std::vector<Miscompare> verify_planted(const Gemm& gemm, const RunResult& result,
                                       std::uint32_t row_index);

// Rows whose A or B has elements that are no finite numbers, for the cases about them.

/// Makes what is planted into a product of m x n x k.
using Plant = std::vector<PlantedElement> (*)(std::uint64_t m, std::uint64_t n, std::uint64_t k);

/// One row for each of `plants`, each type of A and B and of C, shapes and layouts in turn; on a
/// GPU larger ones, too, and every kernel of the ladder.
std::vector<Op> planted_rows(const RunContext& context, const std::vector<Plant>& plants);

}  // namespace tidemark
