// A history in every format.
#pragma once

#include <string>

#include "reports/document/history/document.hpp"

namespace tidemark::reports {

/// In the format asked for.
std::string show_history(const History& history, const ShowOptions& options);

}  // namespace tidemark::reports
