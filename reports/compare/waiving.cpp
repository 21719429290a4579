// From indices of a pairing to what waivers know.
#include "reports/compare/waiving.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "reports/base/words.hpp"

namespace tidemark::reports {
namespace {

/// Of the launches after the change; the first that is no time of a launch, where there is one.
double newest_of(const Pairing& pairing) {
  double newest = 0;
  for (std::size_t i = pairing.base; i < pairing.launches.size(); ++i) {
    const double at = pairing.launches[i]->launch.created_unix_s;
    if (!is_launch_time(at)) return at;
    newest = std::max(newest, at);
  }
  return newest;
}

/// As the last launch has it that has the GPU, with all drivers that it had after the change.
GpuNames names_of(const Pairing& pairing, std::size_t gpu) {
  GpuNames made;
  made.drivers.clear();
  for (std::size_t i = pairing.launches.size(); i-- > 0;) {
    const std::uint32_t row = pairing.gpu_rows[i][gpu];
    if (row == kNoRow || (i < pairing.base && !made.drivers.empty())) continue;
    const FactsOfGpu& facts = pairing.launches[i]->gpus[row];
    if (made.drivers.empty()) {
      made.uuid = facts.uuid;
      made.serial = facts.serial;
      made.host = facts.node;
    }
    const std::string_view driver = facts.values.empty() ? std::string_view() : facts.values[0];
    if (std::find(made.drivers.begin(), made.drivers.end(), driver) == made.drivers.end()) {
      made.drivers.push_back(driver);
    }
  }
  return made;
}

using CaseAndGpu = std::pair<std::uint32_t, std::uint32_t>;

}  // namespace

Waiving::Waiving(const Pairing& pairing, const std::vector<Waiver>& waivers)
    : pairing_(pairing), waivers_(waivers), ledger_(waivers, newest_of(pairing)) {
  if (waivers.empty()) return;
  for (std::size_t gpu = 0; gpu < pairing.gpus.size(); ++gpu) {
    gpus_.push_back(names_of(pairing, gpu));
  }
}

bool Waiving::hear(Waives what, std::size_t which_case, std::size_t gpu, Heard heard) {
  if (waivers_.empty()) return false;
  const auto waiver = ledger_.hear(what, pairing_.cases[which_case], gpus_[gpu], heard);
  return heard == Heard::failed && waiver.has_value();
}

void Waiving::mark(SpeedComparison& speed) {
  if (waivers_.empty()) return;
  std::set<CaseAndGpu> slower;
  for (const GpuFinding& finding : speed.gpus) {
    if (finding.verdict != SpeedVerdict::regressed) continue;
    for (const std::uint32_t gpu : finding.gpus) slower.emplace(finding.of_case, gpu);
  }
  for (SpeedFinding& finding : speed.series) {
    const std::string_view name = pairing_.cases[finding.of_case];
    if (finding.verdict == SpeedVerdict::regressed) {
      finding.waived =
          ledger_.hear(Waives::speed, name, mean_of(finding), Heard::failed).has_value();
      continue;
    }
    const bool clear =
        finding.verdict == SpeedVerdict::same || finding.verdict == SpeedVerdict::improved;
    for (std::uint32_t gpu = 0; gpu < gpus_.size(); ++gpu) {
      if (slower.contains({finding.of_case, gpu})) continue;
      ledger_.hear(Waives::speed, name, gpus_[gpu], clear ? Heard::passed : Heard::nothing);
    }
  }
  mark_gpus(speed);
}

GpuNames Waiving::mean_of(const SpeedFinding& finding) const {
  // No single GPU: only a waiver for all of them is about the mean over them.
  GpuNames made;
  made.drivers.clear();
  for (const std::uint32_t gpu : finding.mean_over) {
    for (const std::string_view driver : gpus_[gpu].drivers) {
      if (std::find(made.drivers.begin(), made.drivers.end(), driver) == made.drivers.end()) {
        made.drivers.push_back(driver);
      }
    }
  }
  return made;
}

void Waiving::mark_gpus(SpeedComparison& speed) {
  std::vector<GpuFinding> made;
  for (const GpuFinding& finding : speed.gpus) {
    GpuFinding waived = finding;
    waived.waived = true;
    waived.gpus.clear();
    waived.changes.clear();
    GpuFinding left = waived;
    left.waived = false;
    for (std::size_t i = 0; i < finding.gpus.size(); ++i) {
      const std::uint32_t gpu = finding.gpus[i];
      const bool is_waived = finding.verdict == SpeedVerdict::regressed &&
                             hear(Waives::speed, finding.of_case, gpu, Heard::failed);
      (is_waived ? waived : left).gpus.push_back(gpu);
      (is_waived ? waived : left).changes.push_back(finding.changes[i]);
    }
    if (!left.gpus.empty()) made.push_back(std::move(left));
    if (!waived.gpus.empty()) made.push_back(std::move(waived));
  }
  speed.gpus = std::move(made);
}

std::vector<WaiverLedger::Line> Waiving::lines() const {
  return ledger_.lines({Waives::failure, Waives::speed, Waives::behaviour});
}

}  // namespace tidemark::reports
