// The one exception of kernels/ and suite/: the tool or the machine failed. What the hardware did
// wrong is never an exception; it travels as a value.
#pragma once

#include <stdexcept>
#include <string>

namespace tidemark {

/// Where a call stands in the source; clang-tidy 14 cannot parse std::source_location.
struct Where {
  const char* file = "";
  int line = 0;

  static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return Where{file, line};
  }
};

/// A failure of the tool or the machine (out of memory, a driver call refused), with its place.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, Where where = Where::here())
      : std::runtime_error(what), where_(where) {}

  const Where& where() const { return where_; }

 private:
  Where where_;
};

}  // namespace tidemark
