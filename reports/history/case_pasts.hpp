// What became of each case over the launches of a history.
#pragma once

#include <vector>

#include "reports/history/history.hpp"

namespace tidemark::reports {

/// One for each case of the chronicle, which is in the order of time: failing first, then open,
/// waived, lacking, then those that failed once. They refer to the chronicle.
std::vector<CasePast> case_pasts(const History& history);

}  // namespace tidemark::reports
