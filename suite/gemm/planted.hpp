// Judges products of which some elements of A or B are NaN or infinite: who is touched by them, and
// with which sign.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "suite/outcome.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// Every element of C where `gemm.planted` is not empty. An element whose row of A and column of B
/// are finite must be exact. Any other is what IEEE 754-2019 makes of its products (6.1, 7.2: an
/// infinity times 0 and the sum of both infinities are NaN, a NaN stays one): an infinity of that
/// sign, or a NaN. A NaN may have any bits but those of the poison, which nobody wrote. Throws
/// Error unless is_exact().
std::vector<Miscompare> verify_planted(const Gemm& gemm, const RunResult& result,
                                       std::uint32_t row_index);

}  // namespace tidemark::suite
