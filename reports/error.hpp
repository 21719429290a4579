// The exception of reports/: a file cannot be read or written, or is not what it says.
#pragma once

#include <stdexcept>
#include <string>

namespace tidemark::reports {

/// Why a report or journal cannot be used: one line with the path, what is wrong and what to do.
class ReportError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tidemark::reports
