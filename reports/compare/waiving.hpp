// Waivers held against what a comparison found.
#pragma once

#include <vector>

#include "reports/compare/pairing.hpp"
#include "reports/compare/speed/speed.hpp"
#include "reports/policy/waiver.hpp"

namespace tidemark::reports {

/// Keeps references to the pairing and the waivers. They are held against the day of the newest
/// launch after the change, and against every driver that a GPU has there.
class Waiving {
 public:
  Waiving(const Pairing& pairing, const std::vector<Waiver>& waivers);

  /// Whether what was found of a case on a GPU (indices into the pairing) is waived; tells the
  /// waivers what passes, too.
  bool hear(Waives what, std::size_t which_case, std::size_t gpu, Heard heard);

  /// Marks what is waived: a regression of a case by a waiver that names no GPU, one of some GPUs
  /// by any. Where only some of those are, the finding is split.
  void mark(SpeedComparison& speed);

  /// One line a waiver.
  std::vector<WaiverLedger::Line> lines() const;

 private:
  /// By what waivers know the mean that a finding is about: no GPU, and the drivers of all in it.
  GpuNames mean_of(const SpeedFinding& finding) const;
  void mark_gpus(SpeedComparison& speed);

  const Pairing& pairing_;
  const std::vector<Waiver>& waivers_;
  WaiverLedger ledger_;
  std::vector<GpuNames> gpus_;
};

}  // namespace tidemark::reports
