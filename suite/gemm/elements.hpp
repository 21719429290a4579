// Holds single elements of C against products worked out on the host from the generated operands.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

/// Whether every order of summation gives the same fp32: integers below 2^24 are exact in it, and
/// with alpha and beta, multiples of a quarter up to 4, quarters that are no more in number. Of fp8
/// the tensor cores keep 14 bits of a sum; those of 128 k, which are then promoted to fp32, have no
/// more: 128 x 3 x 3 and 128 x 7 x 7 are both below 2^13.
bool is_exact(const Gemm& gemm);

/// Every element against a product in whole numbers: C must be the exact sum, bf16 output that sum
/// rounded to nearest even. For rows with is_exact().
std::vector<Miscompare> verify_exactly(const Gemm& gemm, const RunResult& result,
                                       std::uint32_t row_index);

/// Every element against a product in fp64, within the bound of sum_error_bound().
std::vector<Miscompare> verify_within_bound(const Gemm& gemm, const RunResult& result,
                                            std::uint32_t row_index);

/// Every element against fp32 sums of the same block that another engine made, whatever the order:
/// both may be sum_error_bound() off. For products too large for the host.
std::vector<Miscompare> verify_near(const Gemm& gemm, const RunResult& result,
                                    const RunResult& reference, std::uint32_t row_index);

/// 16 blocks of 16 x 16 elements, in the corners and drawn from the seed, against a product in
/// fp64: integers must be exact, others within sum_error_bound(). Neither alpha nor beta.
std::vector<Miscompare> verify_samples(const Gemm& gemm, const RunResult& result,
                                       std::uint32_t row_index);

/// How far an fp32 sum of `k` products may be from the exact one, where the rows of A and B that
/// it multiplies have these Euclidean norms: (k / 16 + sqrt(k) + 4) 2^-23 norm_a norm_b.
/// norm_a norm_b is at least the sum of |a b| (Cauchy-Schwarz). k / 16 steps of a tensor core may
/// each cut off one unit in the last place of the sum so far, always to the same side; sqrt(k) is
/// what k roundings to nearest come to, which a plain loop has.
///
/// Of fp8 every wgmma of 32 k cuts its products and the sum so far off 13 bits below the largest of
/// them, and their sum again: in kPromotedEvery k, 128 + 4 + 4 numbers lose up to 2^-13 of what is
/// at most the product of the norms of these k, and those products add up to norm_a norm_b at most
/// (Cauchy-Schwarz again).
/// That holds for certain and is wide: what is to be seen below 1.7 % of norm_a norm_b takes
/// integers, which are exact.
double sum_error_bound(GemmElement element, std::uint64_t k, double norm_a, double norm_b);

/// k whose fp8 products a tensor core may sum up before they are added to fp32 sums.
inline constexpr std::uint64_t kPromotedEvery = 128;

}  // namespace tidemark
