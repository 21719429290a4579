// Freivalds' check: C x = A (B x) for vectors x of random signs. It reads every element of C and
// costs three matrix-vector products in place of a matrix product.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

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

}  // namespace tidemark
