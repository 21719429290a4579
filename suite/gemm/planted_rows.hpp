// Rows whose A or B has elements that are no finite numbers, for the cases about them.
#pragma once

#include <cstdint>
#include <vector>

#include "suite/case.hpp"

namespace tidemark::suite {

/// Makes what is planted into a product of m x n x k.
using Plant = std::vector<PlantedElement> (*)(std::uint64_t m, std::uint64_t n, std::uint64_t k);

/// One row for each of `plants`, each type of A and B and of C, shapes and layouts in turn; on a
/// GPU larger ones, too, and every kernel of the ladder.
std::vector<Op> planted_rows(const RunContext& context, const std::vector<Plant>& plants);

}  // namespace tidemark::suite
