// Cases whose rows have to end in a CUDA error: whether that error came.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/device.hpp"
#include "suite/outcome.hpp"
#include "suite/room.hpp"

namespace tidemark::suite {

/// What is wrong with `result` where the operation had to end in the sticky error `expected`, a
/// cudaError_t: nothing where it did; else expected and actual code (0 where there was no CUDA
/// error), and both in words. Miscompare::parameters is left to the caller.
std::optional<Miscompare> unlike_expected_error(std::int32_t expected, const RunResult& result,
                                                std::uint32_t row);

}  // namespace tidemark::suite
