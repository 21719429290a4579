// A comparison as CSV: a line each case and GPU, each metric, and each metric of GPUs that changed
// unlike the others.
#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "reports/base/escape.hpp"
#include "reports/document/comparison/document.hpp"
#include "reports/document/comparison/told.hpp"

namespace tidemark::reports {
namespace {

/// Missing numbers are empty.
std::string number(double value) {
  return std::isfinite(value) ? fmt::format("{:.7g}", value) : "";
}

std::string percent_of(double logarithm) { return number(100 * std::expm1(logarithm)); }

/// "3/0/1/0/0": launches of a side by what they said.
std::string counts_of(const SideCount& side) {
  return fmt::format("{},{},{},{},{}", side.pass + side.unexpected, side.bad, side.waived,
                     side.lacking, side.skipped);
}

void add_results(std::string& made, const Comparison& comparison) {
  const Pairing& pairing = comparison.pairing;
  const std::size_t gpus = pairing.gpus.size();
  std::vector<std::vector<ChangeKind>> kinds(pairing.cases.size() * gpus);
  for (const ChangeGroup& group : comparison.conformance.groups) {
    for (const std::uint32_t which : group.cases) {
      for (const std::uint32_t gpu : group.gpus) kinds[which * gpus + gpu].push_back(group.kind);
    }
  }
  for (std::size_t which = 0; which < pairing.cases.size(); ++which) {
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      const SideCount base = count_of(pairing, which, gpu, false);
      const SideCount fresh = count_of(pairing, which, gpu, true);
      std::vector<ChangeKind>& found = kinds[which * gpus + gpu];
      // Neither side ever planned it: nothing was found, and nothing is the same.
      const bool known = base.lacking < pairing.base || fresh.lacking < pairing.fresh();
      if (found.empty() && !known) continue;
      std::string names;
      for (const ChangeKind kind : found)
        names += (names.empty() ? "" : " ") + std::string(name_of(kind));
      made += fmt::format("result,{},,{},{},{},{},{},{},,,,,,,,,,,,\n",
                          for_csv(pairing.cases[which]), for_csv(pairing.gpus[gpu].node),
                          for_csv(pairing.gpus[gpu].key), pairing.gpus[gpu].number,
                          names.empty() ? "same" : names, counts_of(base), counts_of(fresh));
    }
  }
}

void add_metrics(std::string& made, const Comparison& comparison) {
  for (const SpeedFinding* finding : speed_in_order(comparison, true)) {
    const bool compared = finding->verdict != SpeedVerdict::not_compared;
    const auto if_compared = [&](const std::string& text) {
      return compared ? text : std::string();
    };
    made += fmt::format(
        "metric,{},{},,,,{}{},,,,,,,,,,,{},{},{},{},{},{},{},{},{},{},{},{}\n",
        for_csv(comparison.pairing.cases[finding->of_case]), for_csv(finding->metric),
        finding->waived ? "waived " : "", name_of(finding->verdict),
        if_compared(number(finding->base_value)), if_compared(number(finding->fresh_value)),
        for_csv(finding->unit), if_compared(percent_of(finding->total)),
        if_compared(percent_of(finding->own.effect)),
        if_compared(percent_of(finding->own.margin())), for_csv(finding->reference),
        if_compared(number(finding->own.q)), percent_of(finding->floor),
        if_compared(percent_of(finding->smallest_seen)), finding->gpus, for_csv(finding->why));
  }
}

void add_gpu_metrics(std::string& made, const Comparison& comparison) {
  const Pairing& pairing = comparison.pairing;
  for (const GpuFinding& finding : comparison.speed.gpus) {
    for (std::size_t i = 0; i < finding.gpus.size(); ++i) {
      const auto& gpu = pairing.gpus[finding.gpus[i]];
      const GpuChange& change = finding.changes[i];
      made += fmt::format("gpu_metric,{},{},{},{},{},{}{},,,,,,,,,,,,,,{},{},{},,{},,,,\n",
                          for_csv(pairing.cases[finding.of_case]), for_csv(finding.metric),
                          for_csv(gpu.node), for_csv(gpu.key), gpu.number,
                          finding.waived ? "waived " : "", name_of(finding.verdict),
                          percent_of(change.total), percent_of(change.own.effect),
                          percent_of(change.own.margin()), number(change.own.q));
    }
  }
}

}  // namespace

std::string comparison_csv(const Comparison& comparison) {
  std::string made =
      "line,case,metric,node,gpu,gpu_number,finding,base_pass,base_bad,base_waived,base_missing,"
      "base_skipped,new_pass,new_bad,new_waived,new_missing,new_skipped,base,new,unit,total_"
      "percent,"
      "own_percent,margin_95_percent,reference,q,floor_percent,smallest_seen_percent,gpus,"
      "why\n";
  add_results(made, comparison);
  add_metrics(made, comparison);
  add_gpu_metrics(made, comparison);
  return made;
}

}  // namespace tidemark::reports
