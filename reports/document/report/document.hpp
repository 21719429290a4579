// What a report has to say, and the parts it is put together from.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reports/base/statistics.hpp"
#include "reports/compare/speed/outliers.hpp"
#include "reports/compare/speed/references.hpp"
#include "reports/document/records.hpp"
#include "reports/schema/verdict.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

/// A text and the SMs that it names, " [SM 17]" or " [SM 4, 17]", apart: GPUs that fail alike fail
/// on different SMs.
struct NamedSms {
  std::string text;                // without the SMs
  std::vector<std::uint32_t> sms;  // in the order of the text
};
NamedSms named_sms(std::string_view text);

/// Results of one verdict and one reason, whichever SMs it names: of one case, or of several where
/// the verdict says nothing about the hardware (skip, not_run).
struct ResultGroup {
  Verdict verdict = Verdict::pass;
  std::string reason;                      // with the SMs of all results
  std::vector<std::uint32_t> results;      // rows of `results`, ascending
  std::vector<std::uint32_t> cases;        // ascending, without doubles
  std::vector<std::uint32_t> gpus;         // the same
  std::vector<std::uint32_t> miscompares;  // rows of `miscompares` of the first result
};

/// Groups in the order a person wants them: what went wrong, what did not run, then passes.
/// Without `each_reason` the first reason of a case and verdict stands for all, which are counted.
std::vector<ResultGroup> result_groups(const Report& report, bool with_passes, bool each_reason);

/// Results of the cases of one family.
struct Family {
  std::size_t passed = 0, skipped = 0, planned = 0;
  bool failed = false;                // a result of it is bad or lacking
  std::set<std::uint32_t> gpus = {};  // on which rows of it ran
  std::size_t sms = 0;  // visited, of the GPU with the fewest; 0 where that is not known
};
std::map<std::string_view, Family> families_of(const Report& report);

/// A line each, first those that failed.
TextTable families_table(const Report& report, bool all);

/// Which GPUs and ranks the launch did without, and why, a line each (events from kLeftOut).
std::vector<std::string_view> left_out_of(const Report& report);

/// What left_out_of() names, then one line a GPU at which something was seen
/// that only its hardware can explain: Xid and other events, memory errors that were not corrected,
/// rows of memory to be remapped, clocks held down by heat or power brakes during results. Most
/// evidence first.
std::vector<std::string> hardware_lines(const Report& report);

/// How long the launch took and, of several GPUs, which was the slowest:
/// seconds in its results. Empty where no result
/// has a time.
std::string time_line(const Report& report);

/// Verdicts first, then what failed, where, why and how to replay it, then what was measured, then
/// what the report was made on.
Document document_of(const Report& report, const ShowOptions& options);

/// JSON is the whole report, text in place of its indices. Tests: a suite a node, in it a test a
/// case; a suite more says whether the report is complete. Nothing of a virtual device is a pass of
/// a GPU: all its tests are skipped.
Views views_of(const Report& report, const ShowOptions& options);

/// PASS, FAIL or INCOMPLETE, and the counts behind it.
struct Summary {
  std::string_view word;
  Tone tone = Tone::none;
  std::array<std::size_t, kVerdicts> verdicts{};
  std::size_t planned = 0;
};
Summary summary_of(const Report& report);

/// "GPU 3 (node07, slot 1, GPU-5f1c2d3e)".
std::string place_of(const Report& report, std::uint32_t gpu_id);

/// The host of a GPU; empty where it never reported.
std::string_view host_of(const Report& report, std::uint32_t gpu_id);

/// What a miscompare found and expected.
std::string text_of(const Report& report, const MiscompareRow& row);

/// The command that runs the failing row of this result alone; empty where there is none.
std::string program_command(const ShowOptions& options, std::uint32_t result_id);

/// Green for a pass, yellow for what nobody has to be alarmed by.
Tone tone_of(Verdict verdict);

/// Which SMs rows visited and on which of them rows failed, in lines.
struct SmLines {
  std::string visited;  // empty where no SM of any row is known
  // One a GPU of which some failed, first where those are the fewest; then one an SM that is far
  // slower than the others of its GPU.
  std::vector<std::string> named;
};
SmLines sm_lines(const Report& report);

/// SMs of a GPU. Their numbers may have gaps: a GPU of 132 SMs may have one with the number 143.
struct SmCount {
  std::uint32_t visited = 0;
  std::uint32_t sms = 0;      // `sm_count`; 0 where it is not known, or below `visited`
  std::uint32_t numbers = 0;  // all SMs have numbers below this one

  bool all_visited() const { return visited == (sms > 0 ? sms : numbers); }
  bool has_gaps() const { return numbers > sms; }  // or may have, where `sms` is not known
};
SmCount sm_count_of(const Report& report, std::uint32_t gpu_id);

/// The rows of `sms` that are of this GPU.
std::span<const SmRow> sms_of(const Report& report, std::uint32_t gpu_id);

/// Of a page: nodes (few GPUs: each GPU) against cases.
Section map_of(const Report& report, const ShowOptions& options);

/// Of a page: a map a GPU of its SMs. No blocks where no SM is known.
Section sm_maps_of(const Report& report, const ShowOptions& options);

/// Of a page: every case with its verdicts, as a table.
Section cases_of(const Report& report, const ShowOptions& options);

/// What was measured: on a terminal a table each case, in Markdown one of the medians over GPUs, on
/// a page a plot each metric and every number. No blocks where nothing was.
Section measured_section(const Report& report, const ShowOptions& options);

/// What cases recorded, of which nothing is judged: in one line, or where notes are asked for one
/// by one, those that differ only in numbers once unless all are asked for.
Section notes_of(const Report& report, const ShowOptions& options);
Section events_of(const Report& report);

/// Machines, GPUs, versions, seed and arguments.
Section origin_of(const Report& report, const ShowOptions& options);

/// "4 x NVIDIA H200, driver 580.105.08": models and drivers, the most frequent first. Empty where
/// no GPU reported.
std::string models_of(const Report& report);

/// One metric of one case on all GPUs.
struct Measured {
  std::string_view name, unit;
  bool higher_is_better = true;
  std::vector<const MetricRow*> rows = {};  // in the order of GPUs
};

/// The metrics of each case, both in the order they stand in the report.
std::map<std::uint32_t, std::vector<Measured>> measured_of(const Report& report);

/// Those whose result passed: no other number counts.
std::vector<const MetricRow*> counted_of(const Report& report, const Measured& measured);

/// What GPUs of the model have of a metric; null where that is not known, or of too few values.
const Reference* reference_of(const Report& report, const MetricRow& row);

/// The rate a job sees that waits for its slowest rank: sample by sample the worst of all GPUs.
Statistics slowest_of(const Report& report, const Measured& measured);

}  // namespace tidemark
