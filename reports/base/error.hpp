// The exception of reports/: a file cannot be read or written, or is not what it says.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace tidemark {

/// Why a report or journal cannot be used: one line with the path, what is wrong and what to do.
class ReportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that no second try can read: too long, or no plain file. Of the disk it says nothing.
class UnfitFile : public ReportError {
 public:
  using ReportError::ReportError;
};

/// Throws ReportError of one line; `hint` says what to do.
[[noreturn]] inline void refuse(const std::string& path, std::string_view what,
                                std::string_view hint) {
  // An empty path would leave a line that begins with nothing.
  throw ReportError(fmt::format("{}: {}; {}", path.empty() ? "''" : path, what, hint));
}

/// What the system says of an errno: "No space left on device".
inline std::string error_text(int error) { return std::generic_category().message(error); }

}  // namespace tidemark
