// Runs the rows of a case on a device, has each judged by its oracle and keeps what a person needs.
#include "suite/runner.hpp"

#include <algorithm>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "suite/case.hpp"
#include "suite/gemm/gemm_metrics.hpp"
#include "suite/gemm/verify.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/encoder_rules.hpp"
#include "suite/oracle/expect_tx.hpp"
#include "suite/oracle/peer_tile.hpp"
#include "suite/oracle/program.hpp"
#include "suite/oracle/stress.hpp"
#include "suite/outcome.hpp"

namespace tidemark {
namespace {

// The file without its folders: reports travel, build folders should not.
std::string place_of(const Error& error) {
  const std::string_view file = error.where().file;
  return fmt::format("{}:{}", file.substr(file.rfind('/') + 1), error.where().line);
}

class DescriptorDigest {
 public:
  void add(const RunResult& result) {
    for (const auto& map : result.maps) {
      std::string_view bytes(reinterpret_cast<const char*>(map.data()), map.size());
      bytes.remove_prefix(kAddressBytes);
      hash_ = fnv1a(bytes, hash_ == 0 ? kFnv1aOfNothing : hash_);
    }
  }
  std::uint64_t value() const { return hash_; }

 private:
  // The tensor's address, which differs from process to process: toggling each bit of the address
  // from 4 to 56 toggled that bit of the map and no other (H200, driver 580.159).
  static constexpr std::size_t kAddressBytes = 8;
  std::uint64_t hash_ = 0;  // 0 until the first map
};

void keep_note(Outcome& outcome, const std::string& note) {
  if (note.empty() || outcome.notes.size() >= kKeptNotes) return;
  if (std::find(outcome.notes.begin(), outcome.notes.end(), note) == outcome.notes.end())
    outcome.notes.push_back(note);
}

// Where it is open how a mismatch ends, its rows together say more than each.
void keep_mismatch(const ExpectTx& op, const MismatchSeen& seen, Outcome& outcome,
                   EarlyCompletions& early) {
  if (EarlyCompletions::concerns(op, seen))
    early.add(op, seen);
  else
    keep_note(outcome, mismatch_words(op, seen));
}

void keep_miscompares(Outcome& outcome, std::vector<Miscompare> found, const Op& op,
                      std::uint32_t row) {
  for (Miscompare& miscompare : found) {
    if (outcome.miscompares.size() >= kKeptMiscompares) return;
    miscompare.row = row;
    miscompare.parameters = parameters_of(op);
    outcome.miscompares.push_back(std::move(miscompare));
  }
}

RowVerdict judged(const Op& op, const RunResult& result, std::uint32_t row, Device& device) {
  return row_verdict(op, result, row, [&] { return judge(op, result, row, device); });
}

// Adds what a behaviour case holds against a row that is right as far as documents go.
void hold_against_measurement(const Case& which, const Op& op, const RunResult& result,
                              std::uint32_t row, RowVerdict& verdict) {
  if (which.unlike_measured == nullptr || verdict.judgement != Judgement::pass) return;
  verdict.miscompares = which.unlike_measured(op, result);
  if (verdict.miscompares.empty()) return;
  verdict.judgement = Judgement::fail;
  verdict.reason = fmt::format("row {}: {}", row, verdict.miscompares.front().text);
}

// What the runs of a case's rows are gathered in.
struct Gathered {
  Outcome& outcome;
  bool first = true;
  DescriptorDigest digest;
  EarlyCompletions early;
  Observations observations;
};

// Keeps what one run of a row came to. True where the row is right so far.
bool keep_run(const Case& which, const Op& op, const RunResult& result, std::uint32_t row,
              RowVerdict& verdict, Gathered& gathered) {
  keep_note(gathered.outcome, result.note);
  hold_against_measurement(which, op, result, row, verdict);
  if (which.observed != nullptr && verdict.judgement == Judgement::pass)
    gathered.observations.add(which.observed(op, result));
  if (verdict.judgement == Judgement::pass) return true;
  if (verdict.judgement != Judgement::skip)
    keep_miscompares(gathered.outcome, std::move(verdict.miscompares), op, row);
  return false;
}

// The runs of a row end with the first that is not right: the second would only repeat it.
RowVerdict run_row(const Case& which, const Op& declared, Device& device, std::uint64_t seed,
                   std::uint32_t row, Gathered& gathered) {
  for (std::uint32_t run = 0; run < runs_of(declared); ++run) {
    const Op op = seeded(declared, seed, row, run == 1);
    const RunResult result = device.run(op);
    if (run == 0) {
      gathered.digest.add(result);
      // Each GPU's process asks an encoder; one record of tens of thousands of calls is enough.
      if (!std::holds_alternative<Encode>(op) || gathered.first)
        for (DriverAnswer& answer : answers_of(op, result))
          gathered.outcome.answers.push_back(std::move(answer));
    }
    RowVerdict verdict = judged(op, result, row, device);
    if (!keep_run(which, op, result, row, verdict, gathered)) return verdict;
  }
  return {};
}

// The same of runs that are over. Moves `run` behind those of this row.
RowVerdict judge_programs_of(const Case& which, std::vector<JudgedProgram>::iterator& run,
                             std::uint32_t runs, std::uint32_t row, Gathered& gathered) {
  const auto end = run + runs;
  gathered.digest.add(run->result);
  for (; run != end; ++run) {
    if (const auto* mismatch = std::get_if<ExpectTx>(&run->op);
        mismatch != nullptr && !run->result.trace.empty())
      keep_mismatch(*mismatch, run->mismatch, gathered.outcome, gathered.early);
    RowVerdict verdict =
        row_verdict(run->op, run->result, row, [&] { return std::move(run->found); });
    if (keep_run(which, run->op, run->result, row, verdict, gathered)) continue;
    run = end;
    return verdict;
  }
  return {};
}

// A row that has to end in a CUDA error. Nothing can be compared behind that error, and without it
// the second run would tell no more.
RowVerdict run_to_error(const Case& which, const Op& declared, Device& device, std::uint64_t seed,
                        std::uint32_t row, Gathered& gathered) {
  Outcome& outcome = gathered.outcome;
  const Op op = seeded(declared, seed, row);
  const RunResult result = run_op(device, op);
  gathered.digest.add(result);
  if (result.fault == DeviceFault::unsupported)
    return fault_verdict(result.fault, result.code, result.note, row);
  const bool sticky = result.fault == DeviceFault::sticky;
  RowVerdict verdict;
  verdict.usable = !sticky && !(result.fault == DeviceFault::timeout && result.bytes.empty());
  verdict.cuda_error = sticky ? result.code : 0;
  const ExpectedError expected = which.expected_error(row);
  const auto wrong = unlike_expected_error(expected.code, result, row);
  if (wrong) {
    verdict.judgement = Judgement::fail;
    verdict.reason = fmt::format("row {}, {}: {}", row, expected.copy, wrong->text);
    keep_miscompares(outcome, {*wrong}, op, row);
  } else {
    // The driver's own words would read like a failure beside a pass.
    keep_note(outcome, fmt::format("row {}, {}: ended in CUDA error {} ({}), as predicted", row,
                                   expected.copy, result.code, sticky_error_name(result.code)));
  }
  return verdict;
}

// Fewer samples where a user's product is so large that the usual ones would take minutes.
Timing timing_for(const Case& which, const RunContext& context, double slow) {
  Timing timing;
  if (which.product == ProductUse::sizes && context.product.has_shape())
    timing = timing_of(context.product.shape, context.ranks, context.device);
  timing.slow = slow;
  return timing;
}

void count_sms(const std::set<std::uint16_t>& sms, std::vector<std::uint32_t>& rows) {
  for (const std::uint16_t sm : sms) {
    if (sm >= rows.size()) rows.resize(sm + std::size_t{1});
    ++rows[sm];
  }
}

// A stress visits all SMs, and knows which of them was wrong.
void count_stressed_sms(const RunResult& result, Outcome& outcome) {
  std::set<std::uint16_t> ran, failed;
  for (const StressSm& sm : result.stress) {
    ran.insert(static_cast<std::uint16_t>(sm.sm));
    if (is_wrong(sm)) failed.insert(static_cast<std::uint16_t>(sm.sm));
  }
  count_sms(ran, outcome.sm_rows_run);
  count_sms(failed, outcome.sm_rows_failed);
}

// Rates of HBM say nothing of an SM: who gets how much of it differs from launch to launch.
void keep_sm_rates(const Op& op, const RunResult& result, Outcome& outcome) {
  const auto* stress = std::get_if<Stress>(&op);
  if (stress == nullptr || stress->boxes != StressBoxes::bulk || stress->products ||
      stress->copy != StressCopy::load || stress->memory_bytes != kStressL2Bytes)
    return;
  outcome.sm_latency.resize(kStressSms);
  outcome.sm_rate.resize(kStressSms);
  for (const StressSm& sm : result.stress) {
    if (is_wrong(sm) || sm.ns == 0) continue;
    outcome.sm_latency[sm.sm] = sm.latency;
    outcome.sm_rate[sm.sm] = static_cast<double>(sm.bytes) / static_cast<double>(sm.ns);
  }
}

RowVerdict measure_row(const Case& which, const Op& declared, Device& device,
                       const RunContext& context, std::uint32_t row, double slow,
                       Outcome& outcome) {
  const Op op = seeded(declared, context.seed, row);
  const Measurement measurement = device.measure(op, timing_for(which, context, slow));
  count_stressed_sms(measurement.last, outcome);
  keep_sm_rates(op, measurement.last, outcome);
  keep_note(outcome, measurement.note);
  if (measurement.fault != DeviceFault::none) {
    RowVerdict verdict = fault_verdict(measurement.fault, measurement.code, measurement.note, row);
    verdict.usable = verdict.usable && measurement.fault != DeviceFault::timeout;
    // What earlier launches found stays found.
    if (const auto* stress = std::get_if<Stress>(&op);
        stress != nullptr && !measurement.last.stress.empty())
      for (Miscompare& wrong : compare(*stress, measurement.last, row))
        verdict.miscompares.push_back(std::move(wrong));
    keep_miscompares(outcome, verdict.miscompares, op, row);
    return verdict;
  }
  if (measurement.samples.empty())
    throw Error(fmt::format("row {}: the device measured nothing", row));
  // A number is worth nothing where what was timed is wrong. Tile loads leave nothing behind.
  if (!measurement.last.bytes.empty() || std::holds_alternative<Gemm>(op) ||
      std::holds_alternative<Stress>(op)) {
    RowVerdict verdict = judged(op, measurement.last, row, device);
    if (verdict.judgement != Judgement::pass) {
      if (!std::holds_alternative<Stress>(op))
        verdict.reason = "after the last timed run, " + verdict.reason;
      keep_miscompares(outcome, verdict.miscompares, op, row);
      return verdict;
    }
  }
  if (const auto* gemm = std::get_if<Gemm>(&op)) {
    keep_note(outcome, exchange_note(*gemm, measurement));
    keep_note(outcome, digest_note(*gemm, measurement.last));
  }
  for (Metric& metric : which.metrics(op, measurement))
    outcome.metrics.push_back(std::move(metric));
  return {};
}

// How the panels of the rows travel, once for the whole case.
void note_route(const std::vector<Op>& rows, const RunContext& context, Outcome& outcome) {
  if (context.routes.empty()) return;
  for (const Op& op : rows) {
    const auto* gemm = std::get_if<Gemm>(&op);
    if (gemm == nullptr || gemm->transport == nullptr || gemm->vote) continue;
    keep_note(outcome, fmt::format("panels by {}: {}", name_of(gemm->route), context.why_route));
    return;
  }
}

// Which rows to run: those from first_row on, or the one that was asked for.
struct RowRange {
  std::uint32_t begin = 0, end = 0;
};

RowRange rows_to_run(std::size_t rows, const RunCaseOptions& options) {
  const auto count = static_cast<std::uint32_t>(rows);
  const std::int64_t first = options.only_row < 0 ? options.first_row : options.only_row;
  if (first >= static_cast<std::int64_t>(count))
    throw Error(fmt::format("row {} does not exist: this level has rows 0 to {}; take one of them",
                            first, static_cast<std::int64_t>(count) - 1));
  const auto row = static_cast<std::uint32_t>(first);
  return {.begin = row, .end = options.only_row < 0 ? count : row + 1};
}

// Adds what one row came to.
void keep_verdict(const RowVerdict& verdict, const RunCaseOptions& options, Outcome& outcome) {
  if (verdict.judgement == Judgement::skip) {  // nothing ran: neither passed nor failed
    worsen(outcome, Judgement::skip, verdict.reason);
    return;
  }
  ++outcome.rows_run;
  count_sms(verdict.sms, outcome.sm_rows_run);
  if (verdict.judgement != Judgement::pass) {
    ++outcome.rows_failed;
    count_sms(verdict.sms, outcome.sm_rows_failed);
    worsen(outcome, verdict.judgement, verdict.reason);
  }
  if (verdict.cuda_error != 0) outcome.cuda_error = verdict.cuda_error;
  outcome.device_spent = !verdict.usable;
  if (options.progress != nullptr)
    options.progress(options.progress_arg, outcome.rows_run, outcome.rows_planned);
}

// How many rows from `row` on run as programs together: enough for all SMs of a GPU, and few enough
// that a person sees progress.
std::uint32_t programs_together(const std::vector<Op>& rows, std::uint32_t row, std::uint32_t end,
                                bool alone) {
  const std::uint32_t most = alone ? 1 : 110;
  std::uint32_t last = row;
  while (last < end && last - row < most && is_program(rows[last])) ++last;
  return last - row;
}

// A sticky error, or a kernel that never ended, is that of all rows of its launch: none is accused
// of what another may have done.
void accuse_none(std::uint32_t row, std::uint32_t end, RowVerdict& verdict, Outcome& outcome) {
  outcome.suspects = end - row;
  const std::string what = verdict.judgement == Judgement::sticky
                               ? fmt::format("CUDA error {} ({})", verdict.cuda_error,
                                             sticky_error_name(verdict.cuda_error))
                               : std::string("a kernel that did not end");
  verdict.reason =
      fmt::format("one of rows {} to {}, which shared a launch, left {}", row, end - 1, what);
  verdict.sms.clear();
  std::erase_if(outcome.miscompares, [&](const Miscompare& wrong) { return wrong.row == row; });
}

std::set<std::uint16_t> sms_of(std::vector<JudgedProgram>::const_iterator run, std::uint32_t runs) {
  std::set<std::uint16_t> made;
  for (; runs > 0; --runs, ++run) made.insert(run->result.sms.begin(), run->result.sms.end());
  return made;
}

// Moves `row` behind the rows that are over: `end`, or behind the one that spent the device.
void run_program_rows(const Case& which, const std::vector<Op>& rows, std::uint32_t& row,
                      std::uint32_t end, Device& device, const RunContext& context,
                      const RunCaseOptions& options, Gathered& gathered) {
  const std::uint32_t begin = row;
  std::vector<JudgedProgram> runs = run_programs(rows, begin, end, device, context.seed);
  auto next = runs.begin();
  for (; row < end && !gathered.outcome.device_spent; ++row) {
    const std::set<std::uint16_t> sms = sms_of(next, runs_of(rows[row]));
    RowVerdict verdict = judge_programs_of(which, next, runs_of(rows[row]), row, gathered);
    if (end - begin > 1) verdict.sms = sms;
    if (!verdict.usable && end - row > 1) accuse_none(row, end, verdict, gathered.outcome);
    keep_verdict(verdict, options, gathered.outcome);
  }
}

void run_rows(const Case& which, Device& device, const RunContext& context,
              const RunCaseOptions& options, Gathered& gathered) {
  Outcome& outcome = gathered.outcome;
  if (which.rows == nullptr) throw Error("the case has no rows function");
  if (context.ranks < which.fewest_gpus) {
    outcome.judgement = Judgement::skip;
    outcome.reason = fmt::format("needs {} GPUs or more, and this launch has {}", which.fewest_gpus,
                                 context.ranks);
    return;
  }
  const bool is_benchmark = which.kind == CaseKind::benchmark;
  if (is_benchmark && which.metrics == nullptr)
    throw Error("the benchmark has no metrics function");
  if (options.slow > 0) {
    if (!is_benchmark) throw Error("only a benchmark can be slowed on purpose");
    keep_note(outcome, fmt::format("SLOWED ON PURPOSE by {:g} %: what is measured here says "
                                   "nothing about the GPU",
                                   100 * options.slow));
  }
  const std::vector<Op> rows = which.rows(context);
  if (rows.empty()) {
    // A benchmark may have nothing to time on this device; a claim without rows was not tested.
    if (!is_benchmark) throw Error("the case made no rows for this device and level");
    outcome.judgement = Judgement::skip;
    outcome.reason = "nothing to measure on this device at this level";
    return;
  }
  if (which.expected_error != nullptr && options.only_row < 0)
    throw Error("each row of a case that ends in CUDA errors needs a process of its own; name one");
  note_route(rows, context, outcome);
  const RowRange range = rows_to_run(rows.size(), options);
  outcome.rows_planned = range.end - range.begin;
  for (std::uint32_t row = range.begin; row < range.end && !outcome.device_spent;) {
    const bool alone = which.metrics != nullptr || which.expected_error != nullptr;
    const std::uint32_t together =
        alone ? 0 : programs_together(rows, row, range.end, options.alone);
    if (together > 0) {
      run_program_rows(which, rows, row, row + together, device, context, options, gathered);
      outcome.rows_left = range.end - row;
      continue;
    }
    const RowVerdict verdict =
        which.metrics != nullptr
            ? measure_row(which, rows[row], device, context, row, options.slow, outcome)
        : which.expected_error != nullptr
            ? run_to_error(which, rows[row], device, context.seed, row, gathered)
            : run_row(which, rows[row], device, context.seed, row, gathered);
    keep_verdict(verdict, options, outcome);
    outcome.rows_left = range.end - ++row;
  }
}

template <typename Row>
concept HasPayload = requires(Row& row) {
  payload_of(row);
};

template <typename Predicted>
std::vector<Miscompare> judge_row(const Predicted& op, const RunResult& result, std::uint32_t row,
                                  Device& /*device*/) {
  if constexpr (requires { program_of(op); }) {
    const Program program = with_checks(program_of(op));
    return compare(program, predict(program), result, row);
  } else if constexpr (requires { compare(op, result, row); }) {
    return compare(op, result, row);
  } else {
    return compare(op, predict(op), result, row);
  }
}

std::vector<Miscompare> judge_row(const Gemm& gemm, const RunResult& result, std::uint32_t row,
                                  Device& device) {
  return verify_gemm(gemm, result, row, device);
}

}  // namespace

Op seeded(Op op, std::uint64_t case_seed, std::uint32_t row, bool inverted) {
  const std::uint64_t seed = splitmix64(case_seed + splitmix64(std::uint64_t{row} + 1));
  std::visit(
      [&](auto& which) {
        if constexpr (HasPayload<decltype(which)>)
          payload_of(which) = {.seed = seed, .inverted = inverted};
        else if constexpr (requires { which.seed; })
          which.seed = seed;
      },
      op);
  return op;
}

std::uint32_t runs_of(Op op) {
  return std::visit([](auto& which) { return HasPayload<decltype(which)> ? 2U : 1U; }, op);
}

std::string fault_text(const RunResult& result) {
  if (result.fault == DeviceFault::none) return "";
  return fault_text(result.fault, result.code, result.note);
}

RunResult run_op(Device& device, const Op& op) {
  if (!is_program(op)) return device.run(op);
  const Program program = checked_program(op);
  return device.run_programs({&program, 1}).front();
}

std::vector<Miscompare> judge(const Op& op, const RunResult& result, std::uint32_t row,
                              Device& device) {
  return std::visit([&](const auto& which) { return judge_row(which, result, row, device); }, op);
}

Outcome run_case(const Case& which, Device& device, const RunContext& context,
                 const RunCaseOptions& options) {
  Outcome outcome;
  Gathered gathered{
      .outcome = outcome, .first = context.first, .digest = {}, .early = {}, .observations = {}};
  try {
    run_rows(which, device, context, options, gathered);
  } catch (const Error& error) {
    worsen(outcome, Judgement::tool_error, fmt::format("{} ({})", error.what(), place_of(error)));
  }
  // Rows that were right print no number either: the same engine got another one wrong.
  if (outcome.rows_failed > 0) outcome.metrics.clear();
  outcome.descriptors = gathered.digest.value();
  // Each stands for many rows, so they come before the notes of single ones.
  std::vector<std::string> sweeps = gathered.observations.notes();
  for (std::string& note : gathered.early.notes()) sweeps.push_back(std::move(note));
  outcome.notes.insert(outcome.notes.begin(), sweeps.begin(), sweeps.end());
  if (outcome.notes.size() > kKeptNotes) outcome.notes.resize(kKeptNotes);
  return outcome;
}

}  // namespace tidemark
