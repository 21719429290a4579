// Products of which some elements of A or B are NaN or infinite: their rows and their verdict.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "suite/case.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

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
