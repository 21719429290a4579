// Waivers of a launch, applied to its results. Here and not where results are heard: what a worker
// said stays in the journals as it was, and a report made anew of them comes to the same.
#include <fmt/format.h>

#include <map>

#include "reports/store/assemble/assembly.hpp"

namespace tidemark::reports {
namespace {

constexpr std::string_view kWaiverKey = "waiver.";

std::vector<GpuNames> names_of(const HeardLaunch& all) {
  std::map<std::uint32_t, std::string_view> hosts;
  for (const NodeRecord& node : all.nodes) hosts.emplace(node.rank, node.hostname);
  std::vector<GpuNames> made(all.launch.gpus);
  for (const GpuRecord& gpu : all.gpus) {
    const auto host = hosts.find(gpu.rank);
    made[gpu.gpu] = {.uuid = gpu.uuid,
                     .serial = gpu.serial,
                     .host = host == hosts.end() ? std::string_view() : host->second,
                     .drivers = {gpu.driver}};
  }
  return made;
}

Heard heard_of(Verdict verdict) {
  if (is_waivable(verdict)) return Heard::failed;
  return verdict == Verdict::pass ? Heard::passed : Heard::nothing;
}

void apply(Assembly& made, ResultRow& result, const Waiver& waiver, bool strict) {
  if (result.verdict != Verdict::pass) {
    const std::string reason(made.report.text(result.reason));
    result.reason = made.index_of(waived_reason(waiver, result.verdict, reason));
    result.verdict = Verdict::waived;
    return;
  }
  const std::string note = stale_note(waiver);
  const std::string notes(made.report.text(result.notes));
  result.notes = made.index_of(notes.empty() ? note : notes + "\n" + note);
  if (!strict) return;
  result.verdict = Verdict::unexpected_pass;
  result.reason = made.index_of(note);
}

}  // namespace

std::vector<WaiverLedger::Line> waiver_lines(const Report& report) {
  std::vector<WaiverLedger::Line> made;
  for (const ProvenanceRow& row : report.provenance) {
    if (!report.text(row.key).starts_with(kWaiverKey)) continue;
    made.push_back(WaiverLedger::of(report.text(row.value)));
  }
  return made;
}

void apply_waivers(Assembly& made, const HeardLaunch& all) {
  const std::vector<Waiver>& waivers = all.policy.waivers;
  if (waivers.empty()) return;
  // The moment the launch began: its journals make the same report on any later day.
  WaiverLedger ledger(waivers, all.launch.created_unix_s);
  const std::vector<GpuNames> gpus = names_of(all);
  for (ResultRow& result : made.report.results) {
    const std::string_view case_name = all.launch.cases[result.case_id].name;
    const auto waiver =
        ledger.hear(Waives::failure, case_name, gpus[result.gpu_id], heard_of(result.verdict));
    if (waiver) apply(made, result, waivers[*waiver], all.policy.strict);
  }
  std::size_t number = 0;
  for (const WaiverLedger::Line& line : ledger.lines({Waives::failure})) {
    made.report.provenance.push_back(
        {.key = made.index_of(fmt::format("{}{}", kWaiverKey, number++)),
         .value = made.index_of(line.text)});
  }
}

}  // namespace tidemark::reports
