// Verifies products: every element, samples, and the vote of all ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"
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

}  // namespace tidemark
