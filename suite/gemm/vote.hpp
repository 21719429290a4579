// All ranks computed the same product: who differs from the others?
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "kernels/ops/gemm/gemm.hpp"
#include "suite/outcome.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// What RunResult::digests of a Gemm::vote say against this rank: tiles whose bits are not those of
/// more than half of all ranks, or, where no half agrees, that nobody knows who is wrong. Empty
/// where this rank is of the majority in every tile. Miscompare::row is `row_index`.
std::vector<Miscompare> verify_vote(const Gemm& gemm, const RunResult& result,
                                    std::uint32_t row_index);

}  // namespace tidemark::suite
