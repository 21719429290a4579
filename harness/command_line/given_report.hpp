// Reports that somebody names, and what is known beside them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/render/show.hpp"
#include "reports/store/report.hpp"

namespace CLI {  // NOLINT(readability-identifier-naming): the name is the library's
class App;
class Option;
}  // namespace CLI

namespace tidemark {

// Reports that somebody names on the command line.

/// read_report, which says on stderr, once a process, where less than usual protects from the file.
Report given_report(const std::string& path);

/// An option each format, of which one at most, and none beside the `excluded`, can be given;
/// `chosen` stays where none is. `details`: of a format, what its help says behind a colon.
void add_formats(CLI::App& verb, std::string_view& chosen,
                 const std::vector<std::pair<std::string_view, std::string_view>>& details,
                 std::vector<CLI::Option*> excluded = {});

// What reports cannot know of a metric, because it follows from the suite's own cases.

/// For ShowOptions::beside: what the case of this program says of its metric; nothing of a case it
/// has not.
PrintedBeside printed_beside(std::string_view case_name, std::string_view metric);

}  // namespace tidemark
