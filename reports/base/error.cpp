// The exception of reports/: a file cannot be read or written, or is not what it says.
#include "reports/base/error.hpp"

#include <fmt/format.h>
#include <system_error>

namespace tidemark::reports {

void refuse(const std::string& path, std::string_view what, std::string_view hint) {
  // An empty path would leave a line that begins with nothing.
  throw ReportError(fmt::format("{}: {}; {}", path.empty() ? "''" : path, what, hint));
}

std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace tidemark::reports
