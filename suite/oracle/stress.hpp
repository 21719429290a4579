// Judges boxes at full rate.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/device.hpp"
#include "suite/outcome.hpp"

namespace tidemark {

/// One Miscompare for each SM with a wrong word or a lost box, which it names with the first of
/// them; one where no SM checked a box.
std::vector<Miscompare> compare(const Stress& op, const RunResult& result, std::uint32_t row);

}  // namespace tidemark
