// Reports that somebody names, and what is known beside them.
#pragma once

#include <string>
#include <string_view>

#include "harness/room.hpp"
#include "reports/render/show.hpp"
#include "reports/store/report.hpp"

namespace tidemark::harness {

// Reports that somebody names on the command line.

/// read_report, which says on stderr, once a process, where less than usual protects from the file.
Report given_report(const std::string& path);

// What reports cannot know of a metric, because it follows from the suite's own cases.

/// For ShowOptions::beside: what the case of this program says of its metric; nothing of a case it
/// has not.
PrintedBeside printed_beside(std::string_view case_name, std::string_view metric);

}  // namespace tidemark::harness
