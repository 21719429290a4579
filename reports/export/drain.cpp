// Names the GPUs that no job should get, for whoever drains nodes.
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <map>
#include <vector>

#include "reports/base/error.hpp"
#include "reports/base/words.hpp"
#include "reports/document/report/document.hpp"
#include "reports/export/export.hpp"
#include "reports/journal/hardware_events.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kLongestReason = 128;  // what Slurm's tools show of a reason
constexpr std::size_t kNamed = 2;            // cases and Xids of one GPU

/// What may stand in a command line that a script makes of it: the name of one GPU, or of one host
/// with or without its domain. scontrol takes "ALL", in any case, for every node; an address would
/// lose all behind its first dot.
bool is_name(std::string_view name) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
  const std::string label(name.substr(0, name.find('.')));
  return !label.empty() && label.front() != '-' && ::strcasecmp(label.c_str(), "all") != 0 &&
         name.find_first_not_of("0123456789.") != std::string_view::npos && name.back() != '.' &&
         name.find("..") == std::string_view::npos &&
         name.find_first_not_of(kPlain) == std::string_view::npos;
}

/// On how many GPUs each case failed or was lost, also where somebody answers for it.
std::map<std::uint32_t, std::size_t> failures_by_case(const Report& report) {
  std::map<std::uint32_t, std::size_t> counts;
  for (const ResultRow& result : report.results)
    if (is_failure(result.verdict) || is_lost(result.verdict) || result.verdict == Verdict::waived)
      ++counts[result.case_id];
  return counts;
}

/// "zfill.side fail, zfill.whole hang and 3 more".
std::string listed(const std::vector<std::string>& texts) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(texts.size(), kNamed));
  std::string made = fmt::format("{}", fmt::join(texts.begin(), texts.begin() + shown, ", "));
  if (texts.size() > kNamed) made += fmt::format(" and {} more", texts.size() - kNamed);
  return made;
}

/// Whether another GPU did not run the case since the GPU of `hung` hung in it, as
/// harness/supervisor/all_gpus_phase.cpp says it: "slot 1 (node07, GPU-5f1c...) hung in ...". Of a
/// GPU that waited for another in vain none says so.
bool stopped_others(const Report& report, const ResultRow& hung) {
  const std::string said =
      fmt::format(", {}) hung in the same round", report.gpus[hung.gpu_id].uuid.view());
  return std::ranges::any_of(report.results, [&](const ResultRow& other) {
    return other.case_id == hung.case_id && other.verdict == Verdict::not_run &&
           report.text(other.reason).find(said) != std::string_view::npos;
  });
}

/// Whether a failure of a case of all GPUs is known to be one of this GPU.
bool is_its_own(const Report& report, const ResultRow& result,
                const std::map<std::uint32_t, std::size_t>& by_case) {
  if (is_lost(result.verdict) || report.gpus.size() == 1) return true;
  // A wrong panel makes the result of many GPUs wrong: which of them is sick is not known.
  const auto failed = by_case.find(result.case_id);
  if (failed != by_case.end() && failed->second > 1) return false;
  // A GPU that waited for another hangs, too, where nobody knows which of them is stuck.
  return result.verdict != Verdict::hang || stopped_others(report, result);
}

std::vector<std::string> failures_of(const Report& report, std::uint32_t gpu,
                                     const std::map<std::uint32_t, std::size_t>& by_case) {
  std::vector<std::string> failures;
  for (const ResultRow& result : report.results) {
    if (result.gpu_id != gpu || !(is_failure(result.verdict) || is_lost(result.verdict))) continue;
    const CaseRow& which = report.cases[result.case_id];
    const bool together = report.text(which.scope) == "all_gpus";
    if (!together || is_its_own(report, result, by_case))
      failures.push_back(fmt::format("{} {}", which.name.view(), name_of(result.verdict)));
  }
  return failures;
}

std::vector<std::string> xids_of(const Report& report, std::uint32_t gpu) {
  std::vector<std::string> xids;
  for (const EventRow& event : report.events) {
    const Xid* const xid = xid_of(report.text(event.source), event.code);
    if (event.gpu_id != gpu || xid == nullptr || !xid->drains()) continue;
    const std::string text = fmt::format("Xid {}", event.code);
    if (std::ranges::find(xids, text) == xids.end()) xids.push_back(text);
  }
  return xids;
}

/// Empty where nothing speaks against the GPU.
std::string reason_of(const Report& report, const GpuRow& gpu,
                      const std::map<std::uint32_t, std::size_t>& by_case) {
  std::vector<std::string> parts;
  if (const auto xids = xids_of(report, gpu.gpu_id); !xids.empty()) parts.push_back(listed(xids));
  if (number_of(gpu.remapped_rows_pending) > 0) parts.emplace_back("memory rows to be remapped");
  if (const auto failures = failures_of(report, gpu.gpu_id, by_case); !failures.empty())
    parts.push_back(listed(failures));
  return printable(fmt::format("{}", fmt::join(parts, "; ")).substr(0, kLongestReason));
}

/// The first word of `text` behind `before`; empty where there is none.
std::string_view word_behind(std::string_view text, std::string_view before) {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + before.size());
  return rest.substr(0, rest.find(' '));
}

/// GPUs and ranks that the launch did without are in no table; what is known of them is the line
/// that harness/discovery/assignment.cpp wrote: "... of host H ...". One that is in use is not
/// sick, nor one that could not be asked for lack of memory or processes.
void add_left_out(const Report& report, Exported& list) {
  for (const std::string_view line : left_out_of(report)) {
    const auto says = [&](std::string_view words) { return line.find(words) != line.npos; };
    if (says(" is in use: ") || says(": asking CUDA ended with signal 9") ||
        says(" could not be started"))
      continue;
    const std::string_view host = word_behind(line, " host ");
    if (is_name(host))
      list.text += fmt::format("{}\t-\t{}\n", host, printable(line.substr(0, kLongestReason)));
    else
      list.left_out.push_back(fmt::format(
          "'{}' names no host that a script may use; drain it by hand", printable(line)));
  }
}

}  // namespace

Exported drain_of(const Report& report) {
  if (report.launch.is_virtual)
    throw ReportError("made on the virtual device: no hardware was tested; give a report of GPUs");
  if (report.launch.anonymised)
    throw ReportError(
        "anonymized: its host names are hashes; give the report of a run without "
        "--anonymize");
  for (const ProvenanceRow& row : report.provenance)
    if (const auto key = report.text(row.key); key.starts_with("environment.TIDEMARK_TEST_"))
      throw ReportError(fmt::format(
          "made with {}: its failures are injected; give the report of a run without it",
          key.substr(key.find('.') + 1)));
  const auto by_case = failures_by_case(report);
  Exported list;
  for (const GpuRow& gpu : report.gpus) {
    const std::string reason = reason_of(report, gpu, by_case);
    if (reason.empty()) continue;
    const std::string_view host = host_of(report, gpu.gpu_id);
    const std::string_view uuid = gpu.uuid.view();
    if (is_name(host) && is_name(uuid))
      list.text += fmt::format("{}\t{}\t{}\n", host, uuid, reason);
    else
      list.left_out.push_back(
          fmt::format("GPU {}: '{}' on '{}' are no names that a script may use; drain it by hand",
                      gpu.gpu_id, printable(uuid), printable(host)));
  }
  add_left_out(report, list);
  return list;
}

}  // namespace tidemark
