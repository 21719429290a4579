// Why a verb cannot go on, by exit code. An empty text has been printed, by this rank or another.
#pragma once

#include <stdexcept>

namespace tidemark {

/// Exit code 2: what the user asked for cannot be done. One line: what, where, what to do.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Exit code 5: this machine cannot do it now. One line: what, where, what to do.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tidemark
