// What metrics say of each other's noise: the variance that a metric's own is drawn towards.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "reports/compare/speed/moderated.hpp"

namespace tidemark::reports {

/// What the other rows say of the variance of one, and how many degrees of freedom that is worth;
/// NaN where they say nothing.
struct Prior {
  double variance = std::numeric_limits<double>::quiet_NaN(), degrees = kPriorDegrees;
};

/// Of rows with one launch a side, which say nothing of their own noise: by how far their effects
/// lie from each other. NaN of fewer than kFewestRowsForWeights. `many_change`: up to a fifth may
/// have changed, as all metrics of one GPU of five; else a tenth.
Prior scatter_of(const std::vector<const Effect*>& rows, bool many_change);

/// By row: that of its kind (RowFacts::kind; empty: one kind), or of all rows where its kind has
/// too few. `rows` with the spreads of their own; exact rows and the others say nothing of each
/// other.
std::vector<Prior> priors_of(const std::vector<Effect>& rows, const std::vector<bool>& exact,
                             const std::vector<std::uint32_t>& kind);

}  // namespace tidemark::reports
