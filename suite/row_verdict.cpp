// What a row came to, of what its device handed back or refused.
#include "suite/row_verdict.hpp"

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace tidemark {

// Words for the faults of a device, and what of an answer is compared behind one.

namespace {

struct FaultWords {
  Judgement judgement;
  std::string_view what;  // Miscompare::what
  std::string_view text;
};

FaultWords words_of(DeviceFault fault) {
  switch (fault) {
    case DeviceFault::none:
      break;
    case DeviceFault::encode_refused:
      return {Judgement::fail, "encode", "the driver refused a legal tensor map"};
    case DeviceFault::timeout:
      return {Judgement::timeout, "timeout", "a bounded wait ended by its bound"};
    case DeviceFault::others_late:
      return {Judgement::others_late, "timeout",
              "a bounded wait for other GPUs ended by its bound"};
    case DeviceFault::sticky:
      return {Judgement::sticky, "sticky", "the GPU faulted and this process lost it"};
    case DeviceFault::unsupported:
      return {Judgement::skip, "unsupported", "this GPU cannot start the operation"};
  }
  return {Judgement::pass, "", ""};
}

}  // namespace

std::string fault_text(DeviceFault fault, std::int32_t code, const std::string& note) {
  return fmt::format("{}{}{}{}", words_of(fault).text,
                     code == 0 ? "" : fmt::format(" (code {})", code), note.empty() ? "" : ": ",
                     note);
}

RowVerdict fault_verdict(DeviceFault fault, std::int32_t code, const std::string& note,
                         std::uint32_t row) {
  const FaultWords words = words_of(fault);
  RowVerdict verdict{.judgement = words.judgement,
                     .reason = {},
                     .miscompares = {},
                     // Behind others_late the transport is aborted, and ranks are out of step.
                     .usable = fault != DeviceFault::sticky && fault != DeviceFault::others_late,
                     .cuda_error = fault == DeviceFault::sticky ? code : 0,
                     .sms = {}};
  Miscompare miscompare;
  miscompare.row = row;
  miscompare.what = words.what;
  miscompare.actual = static_cast<std::uint64_t>(code);
  miscompare.text = fault_text(fault, code, note);
  verdict.reason = fmt::format("row {}: {}", row, miscompare.text);
  verdict.miscompares.push_back(std::move(miscompare));
  return verdict;
}

RowVerdict row_verdict(const Op& op, const RunResult& result, std::uint32_t row,
                       const std::function<std::vector<Miscompare>()>& wrong) {
  RowVerdict verdict;
  if (result.fault != DeviceFault::none)
    verdict = fault_verdict(result.fault, result.code, result.note, row);
  const bool timed_out =
      result.fault == DeviceFault::timeout || result.fault == DeviceFault::others_late;
  // After a timeout what did land tells a lost credit from lost data; other faults leave nothing.
  if (result.fault == DeviceFault::none || (timed_out && !result.bytes.empty()))
    for (Miscompare& miscompare : wrong()) verdict.miscompares.push_back(std::move(miscompare));
  // Panels still in flight would land in the next row's buffers.
  if (timed_out && std::holds_alternative<Gemm>(op)) verdict.usable = false;
  // A time-out that left no bytes is a kernel that never ended: the next row could only wait for
  // it.
  if (timed_out && result.bytes.empty()) verdict.usable = false;
  if (verdict.judgement == Judgement::pass && !verdict.miscompares.empty()) {
    verdict.judgement = Judgement::fail;
    verdict.reason = fmt::format("row {}: {}", row, verdict.miscompares.front().text);
  }
  return verdict;
}

// Says in a line what came in the place of the error that had to come, and joins rows.

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

}  // namespace tidemark
