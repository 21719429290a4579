// What rows came to, of what their device handed back or refused, one by one and side by side.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include "kernels/ops/program/checks.hpp"
#include "suite/oracle/program.hpp"
#include "suite/runner.hpp"

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

// One call of the device for all programs; the oracle takes longer than a GPU, so its work is
// divided.

namespace {

// A program and the run that it is.
struct Planned {
  Program program;
  std::uint32_t row = 0;
};

void judge_one(const Planned& planned, JudgedProgram& judged) {
  const RunResult& result = judged.result;
  const bool compared = result.fault == DeviceFault::none ||
                        (result.fault == DeviceFault::timeout && !result.bytes.empty());
  if (!compared) return;
  const ProgramExpectation expected = predict(planned.program);
  judged.found = compare(planned.program, expected, result, planned.row);
  if (std::holds_alternative<ExpectTx>(judged.op))
    judged.mismatch = seen_of(planned.program, expected, result);
}

void judge_all(const std::vector<Planned>& planned, std::vector<JudgedProgram>& judged) {
  constexpr unsigned kMostThreads = 8;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < judged.size(); i = next++) judge_one(planned[i], judged[i]);
  };
  std::vector<std::future<void>> helpers;
  const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1U, kMostThreads);
  for (unsigned i = 1; i < threads; ++i) helpers.push_back(std::async(std::launch::async, work));
  work();
  for (std::future<void>& helper : helpers) helper.get();  // throws what the oracle threw
}

std::vector<RunResult> run_in_turn(std::vector<Planned>& planned, Device& device,
                                   std::uint64_t case_seed) {
  std::vector<Program> programs;
  programs.reserve(planned.size());
  for (const Planned& one : planned) programs.push_back(one.program);
  const auto turn = static_cast<std::ptrdiff_t>(case_seed % programs.size());
  std::rotate(programs.begin(), programs.begin() + turn, programs.end());
  std::vector<RunResult> results = device.run_programs(programs);
  std::rotate(results.begin(), results.end() - turn, results.end());
  return results;
}

}  // namespace

std::vector<JudgedProgram> run_programs(const std::vector<Op>& rows, std::uint32_t begin,
                                        std::uint32_t end, Device& device,
                                        std::uint64_t case_seed) {
  std::vector<Planned> planned;
  std::vector<JudgedProgram> judged;
  for (std::uint32_t row = begin; row < end; ++row)
    for (std::uint32_t run = 0; run < runs_of(rows[row]); ++run) {
      JudgedProgram& one = judged.emplace_back();
      one.op = seeded(rows[row], case_seed, row, run == 1);
      planned.push_back({.program = checked_program(one.op), .row = row});
    }
  std::vector<RunResult> results = run_in_turn(planned, device, case_seed);
  for (std::size_t i = 0; i < judged.size(); ++i) judged[i].result = std::move(results[i]);
  judge_all(planned, judged);
  return judged;
}

}  // namespace tidemark
