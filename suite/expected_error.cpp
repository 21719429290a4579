// Says in a line what came in the place of the error that had to come, and joins rows.
#include "suite/expected_error.hpp"

#include <string>

#include <fmt/format.h>

namespace tidemark::suite {
namespace {

std::string in_words(std::int32_t code) {
  return fmt::format("CUDA error {} ({})", code, sticky_error_name(code));
}

std::string what_came(const RunResult& result) {
  switch (result.fault) {
    case DeviceFault::none:
      return "the operation ended without any";
    case DeviceFault::encode_refused:
      return fmt::format("the driver refused the tensor map (code {})", result.code);
    case DeviceFault::timeout:
    case DeviceFault::others_late:
      return "none came, and a bounded wait ended by its bound";
    case DeviceFault::sticky:
      return "got " + in_words(result.code);
    case DeviceFault::unsupported:
      return "this GPU cannot start the operation";
  }
  return "";
}

}  // namespace

std::optional<Miscompare> unlike_expected_error(std::int32_t expected, const RunResult& result,
                                                std::uint32_t row) {
  const bool sticky = result.fault == DeviceFault::sticky;
  if (sticky && result.code == expected) return std::nullopt;
  Miscompare found;
  found.row = row;
  found.what = "error";
  found.expected = static_cast<std::uint64_t>(expected);
  found.actual = sticky ? static_cast<std::uint64_t>(result.code) : 0;
  found.text = fmt::format("expected {}, {}{}{}", in_words(expected), what_came(result),
                           result.note.empty() ? "" : ": ", result.note);
  return found;
}

}  // namespace tidemark::suite
