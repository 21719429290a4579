// What a comparison has to say: names, orders and sentences that all its formats share, and the
// parts they are put together from.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/comparison.hpp"
#include "reports/document/records.hpp"

namespace tidemark {

/// "NEW FAIL", "REGRESSED", "WAIVED REGRESSED".
std::string heading_of(ChangeKind kind);
std::string heading_of(const SpeedFinding& finding);

/// Fixed, or run where it was skipped.
bool is_good(ChangeKind kind);

/// The verdict alone: "REGRESSION", "MISSING", "CHANGED", "INCONCLUSIVE", "IMPROVED", "NO
/// REGRESSION FOUND" or "SAME".
std::string_view headline_of(const Comparison& comparison);

/// Why it changed, in one sentence.
std::string cause_text(const Comparison& comparison);

/// "results: 158 of 160 pass on both sides; 2 new fail", "speed: 2 regressed, 0 improved, ...".
std::string results_text(const Comparison& comparison);
std::string speed_text(const Comparison& comparison);

/// "3 against 5 launches".
std::string launches_text(const Comparison& comparison);

/// What has to be known before the verdict is believed, in the order in which it is shown:
/// "INCOMPLETE:
/// ...", "LEFT OUT: 15 GPUs without a number in every launch: node n000, 15 GPUs: a/rate and 2 more
/// metrics", "DRIFT: ...", "SLOWED ON PURPOSE: gemm.local.speed by 3% in new.h5", "NOT PAIRED:
/// ...".
std::vector<std::string> warnings_of(const Comparison& comparison);

/// One text each case that fails in a larger share of the new launches, which may be chance.
std::vector<std::string> failing_more_texts(const Comparison& comparison);

/// Why one of these cases did not pass on one of these GPUs, in the newest launch that says so, and
/// how to run it there again; nothing where no launch does.
const Evidence* evidence_of(const Comparison& comparison, const ChangeGroup& group);

/// "<case>/<metric>".
std::string name_of(const Comparison& comparison, std::uint32_t which, const std::string& metric);

/// Metrics that changed on the same GPUs unlike on the others.
struct GpuFindings {
  SpeedVerdict verdict = SpeedVerdict::regressed;
  bool waived = false;
  bool alone = false;               // GpuFinding::alone
  std::vector<std::uint32_t> gpus;  // indices into the pairing
  std::vector<const GpuFinding*> findings;
  double least = 0, most = 0;  // their effects in all over all these metrics
};
std::vector<GpuFindings> gpu_findings(const Comparison& comparison);

/// "SLOWER", "WAIVED SLOWER", "FASTER", "UNCHANGED", "CHANGED LESS".
std::string_view heading_of(const GpuFindings& findings);

/// "SLOWER than the other GPUs, unlike before: node n17, all 8 GPUs: a/rate and 2 more metrics,
/// -7.06 % to -6.92 % in all". "... than before, by itself" of GPUs that are judged alone.
std::string text_of(const Comparison& comparison, const GpuFindings& findings);

/// "-7.06 % to -6.92 %", or one of them where they read the same. Of natural logarithms.
std::string percents(double least, double most);

/// "ANSWERED 412 of 412 calls with rank 3: accepted -> error 1; first ...", "TENSOR MAPS 41 of
/// ...: bit 5 of byte 10 differ", "DRIVER programs, registers: 168 -> 170 on node n17, GPU 3 (GPU
/// 3)".
std::string text_of(const Comparison& comparison, const AnswerChange& change);

/// "to decide: 4 more launches a side would do for 3 of 5 ambiguous metrics, 11 more for all";
/// empty where nothing is ambiguous.
std::string more_launches_text(const Comparison& comparison);

/// What to do about it, in a few words: "roll out", "do not roll out", "run 4 more launches a
/// side".
std::string action_text(const Comparison& comparison);

/// "85 metrics within 1 %, 15 within 2.4 %": the losses that are excluded where no regression was
/// found.
std::string resolution_text(const Comparison& comparison);

/// What became of each metric, what matters most first; `all`: those that stayed the same, too.
std::vector<const SpeedFinding*> speed_in_order(const Comparison& comparison, bool all);

/// "REGRESSED a/rate  600 -> 582 TFLOP/s  own -2.97 % +- 0.51 %, -3.14 % in all, on 8 GPUs; ...".
/// `why`: with why it is ambiguous or could not be compared.
std::string text_of(const Comparison& comparison, const SpeedFinding& finding, bool why = true);

/// "ALL SLOWER by what all cases share: -2.9 % +- 0.3 %"; empty where they share nothing.
std::string shared_text(const Comparison& comparison);

/// "smallest change that would have been seen 8 times of 10: ..."; empty without any metric.
std::string smallest_text(const Comparison& comparison);

/// "subject", "allowed", "idle" (nothing that changed depends on it) or "confounder".
std::string_view role_of(const SetupDifference& difference);

/// What was not recorded or could not be judged.
std::vector<std::string> notes_of(const Comparison& comparison);

/// Said where no GPU is on both sides.
inline constexpr std::string_view kNoPairedGpu =
    "no GPU is on both sides: UUIDs pair them, and anonymised reports of two commands share "
    "none; --pair number pairs by GPU number";

/// The verdict first, then what changed, then speed, then what else differs. Under confounders the
/// word "driver" stands in the list of differences alone.
Document document_of(const Comparison& comparison, const ShowOptions& options);

/// Nodes (few GPUs: each GPU) against cases.
Section map_of(const Comparison& comparison, const ShowOptions& options);

/// On a page: a strip plot each metric that did not stay the same. There and in a review: the
/// metrics in a table.
void add_speed(Section& section, const Comparison& comparison, const ShowOptions& options);

/// A metric in a table, and what programs call each of its columns; empty: they do not have it.
struct SpeedColumn {
  std::string_view heading, name;
};
inline constexpr SpeedColumn kSpeedColumns[] = {{"verdict", "finding"},
                                                {"case", "case"},
                                                {"metric", "metric"},
                                                {">before", "base"},
                                                {">after", "new"},
                                                {"unit", "unit"},
                                                {">in all", "total_percent"},
                                                {">of its own", "own_percent"},
                                                {">95 % within +-", "margin_95_percent"},
                                                {"others of the model", "reference"},
                                                {">GPUs", "gpus"},
                                                {"why", "why"},
                                                {">q", "q"},
                                                {">counts from", "floor_percent"},
                                                {">would be seen", "smallest_seen_percent"}};
std::vector<Cell> row_of(const Comparison& comparison, const SpeedFinding& finding);

/// Every number behind the verdicts on one case. Throws ReportError where no report has it.
std::vector<Block> explanation_of(const Comparison& comparison, std::string_view name);

/// CSV: a line each case and GPU, then a line each metric, then a line each metric of each GPU that
/// changed unlike the others. Tests: each kind of finding and each case. What `options.fail_on`
/// names (as findings_of has it) is a failure, what is missing an error; what is found and not
/// named there is skipped, as is everything of the virtual device.
Views views_of(const Comparison& comparison, const ShowOptions& options);

}  // namespace tidemark
