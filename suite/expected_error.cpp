// Says in a line what came in the place of the error that had to come, and joins rows.
#include "suite/expected_error.hpp"

#include <algorithm>
#include <functional>
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
      return fmt::format("cuTensorMapEncodeTiled refused the tensor map (code {})", result.code);
    case DeviceFault::timeout:
      return "none came, and a bounded wait ended by its bound";
    case DeviceFault::sticky:
      return "got " + in_words(result.code);
    case DeviceFault::unsupported:
      return "this GPU cannot start the operation";
  }
  return "";
}

void add_counts(const std::vector<std::uint32_t>& some, std::vector<std::uint32_t>& all) {
  if (all.size() < some.size()) all.resize(some.size());
  std::transform(some.begin(), some.end(), all.begin(), all.begin(), std::plus<>());
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

void add_row(const Outcome& row, Outcome& all) {
  if (all.judgement == Judgement::pass || all.judgement == Judgement::skip) {
    if (row.judgement != Judgement::pass) {
      all.judgement = row.judgement;
      all.reason = row.reason;
    }
  }
  if (row.cuda_error != 0) all.cuda_error = row.cuda_error;
  all.device_spent = all.device_spent || row.device_spent;
  all.rows_run += row.rows_run;
  all.rows_failed += row.rows_failed;
  add_counts(row.sm_rows_run, all.sm_rows_run);
  add_counts(row.sm_rows_failed, all.sm_rows_failed);
  for (const Miscompare& wrong : row.miscompares)
    if (all.miscompares.size() < kKeptMiscompares) all.miscompares.push_back(wrong);
  for (const std::string& note : row.notes)
    if (all.notes.size() < kKeptMiscompares &&
        std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end())
      all.notes.push_back(note);
  all.descriptors = splitmix64(all.descriptors) ^ row.descriptors;
}

}  // namespace tidemark::suite
