// A report as text: for a terminal, for programs, for other pages.
#pragma once

#include <string>

#include "reports/document/show_options.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

/// In the format asked for. On a terminal verdicts first, then what failed, where, why and how to
/// replay it, then the GEMM table, then what the report was made on. Text from the report is made
/// printable first.
std::string show(const Report& report, const ShowOptions& options);

/// What was measured, and nothing else, as show() has it on a terminal. Empty where nothing was.
std::string show_metrics(const Report& report, const ShowOptions& options);

}  // namespace tidemark::reports
