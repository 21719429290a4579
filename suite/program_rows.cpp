// One call of the device for all programs; the oracle takes longer than a GPU, so its work is
// divided.
#include "suite/program_rows.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <thread>
#include <utility>

#include "kernels/ops/program/checks.hpp"
#include "suite/oracle/program.hpp"
#include "suite/runner.hpp"

namespace tidemark {
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
