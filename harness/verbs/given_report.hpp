// Reports that somebody names on the command line.
#pragma once

#include <string>

#include "harness/room.hpp"
#include "reports/store/report.hpp"

namespace tidemark::harness {

/// read_report, which says on stderr, once a process, where less than usual protects from the file.
Report given_report(const std::string& path);

}  // namespace tidemark::harness
