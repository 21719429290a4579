// A comparison in every format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "reports/document/comparison/document.hpp"
#include "reports/document/comparison/told.hpp"

namespace tidemark::reports {

/// In the format asked for.
std::string show_comparison(const Comparison& comparison, const ShowOptions& options);

/// Every number behind the verdicts on one case. Throws ReportError where no report has it.
std::string explain_case(const Comparison& comparison, std::string_view name,
                         std::uint32_t columns);

}  // namespace tidemark::reports
