// What became of each result between the two sides, and what waivers say of it.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "reports/compare/pairing.hpp"
#include "reports/compare/speed/speed.hpp"
#include "reports/schema/waiver.hpp"

namespace tidemark {

// Waivers held against what a comparison found.

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

// What became of each case on each GPU between the two sides, pass or fail, without any statistics.

/// In the order in which they are shown, the worst first.
enum class ChangeKind : std::uint8_t {
  new_fail,             // failed in every launch that ran it; in the base not so, or waived, or
                        // it only failed there and now crashes, hangs or ends in a sticky error
  flaky,                // passed and failed, and in the base only passed, or was waived, or failed
                        // without a crash, hang or sticky error, or in fewer launches than chance
                        // explains (kFailureAlpha)
  missing_in_new,       // ran in the base; has no answer in at least one new launch
  missing_in_both,      // has no answer on either side
  behaviour_changed,    // a behaviour case passed and noted something else
  descriptors_changed,  // the same parameters gave other tensor maps
  skipped_in_new,       // skipped, and ran in the base
  missing_in_base,      // has no answer in at least one launch of the base
  unexpected_pass,      // passed where a failure was waived
  still_failing,        // fails or is flaky on both sides, and was waived on neither
  waived,               // any of these or of behaviour_changed, and somebody answers for it
  run_in_new,           // skipped in the base
  fixed,                // failed, was flaky or waived in the base, passes now
};
inline constexpr std::size_t kChangeKinds = 13;
inline constexpr std::array<std::string_view, kChangeKinds> kChangeKindNames = {
    "new_fail",
    "flaky",
    "missing_in_new",
    "missing_in_both",
    "behaviour_changed",
    "descriptors_changed",
    "skipped_in_new",
    "missing_in_base",
    "unexpected_pass",
    "still_failing",
    "waived",
    "run_in_new",
    "fixed"};

constexpr std::string_view name_of(ChangeKind kind) {
  return kChangeKindNames[static_cast<std::size_t>(kind)];
}

/// Chance that a case is called flaky that fails in a new launch as it does in one of the base:
/// Fisher's exact test, one-sided, over all cases that fail on both sides (Bonferroni).
inline constexpr double kFailureAlpha = 0.05;

/// In how many launches of a side a case failed, on any of some GPUs, of those in which it ran.
/// GPUs of one launch fail together, so that the launch is the unit.
struct FailedLaunches {
  std::uint32_t failed = 0, ran = 0;
};

/// A case that fails on both sides, and in more of the new launches, which may be chance.
struct FailingMore {
  std::uint32_t of_case = 0;
  FailedLaunches base, fresh;
  std::uint32_t more_launches = 0;  // a side, to be sure if it goes on so
};

/// One thing that changed: these cases on these GPUs (indices into the pairing, ascending).
struct ChangeGroup {
  ChangeKind kind = ChangeKind::new_fail;
  std::vector<std::uint32_t> cases, gpus;
};

struct ConformanceComparison {
  std::vector<ChangeGroup> groups;                 // cases that changed on the same GPUs together
  std::array<std::size_t, kChangeKinds> counts{};  // pairs of case and GPU
  std::size_t compared = 0, passed_in_both = 0;    // pairs of case and GPU
  std::size_t skipped_in_both = 0;                 // with no other answer on either side
  std::size_t passed_anywhere = 0;                 // in one launch of either side
  std::size_t descriptors_unjudged = 0;  // differ, but with the seed or cases they were made of
  std::size_t left_out = 0;     // neither compared nor missing: PairedGpu::left_out, new_cases
  bool stopped_in_new = false;  // SideCount::stopped in a new launch, and not waived
  std::vector<FailingMore> failing_more;  // of those that are still failing
  std::set<std::uint32_t> new_cases;      // of a new suite: no launch of the base planned them
  // Cases that noted something else, and may do so in any launch: the base does not show otherwise.
  std::set<std::uint32_t> behaviours_unjudged;
};

/// Verdicts of one case on one GPU over the launches of one side.
struct SideCount {
  std::uint32_t pass = 0, bad = 0, lacking = 0, skipped = 0, waived = 0, unexpected = 0;
  std::uint32_t excused = 0;  // of `bad` and `waived`: those that their launch itself waived
  std::uint32_t stopped = 0;  // ended by a hang, a crash, a sticky error or a GPU that was lost
  bool flaky = false;

  /// Failures that nobody answered for when they happened.
  std::uint32_t openly_bad() const { return bad + waived - excused; }
  bool is_flaky() const { return flaky || (bad > 0 && pass > 0); }
  bool is_failing() const { return bad > 0 && !is_flaky(); }
  bool is_missing() const { return bad == 0 && !flaky && lacking > 0; }
};
SideCount count_of(const Pairing& pairing, std::size_t which_case, std::size_t gpu, bool fresh);

/// One-sided p that the new launches fail no more often than those of the base.
double p_of_more(const FailedLaunches& base, const FailedLaunches& fresh);

/// `same_suite`: both sides were built from the same cases, so that tensor maps may be compared.
/// `new_suite`: the new side has other cases by its source.
ConformanceComparison compare_conformance(const Pairing& pairing, bool same_suite, bool new_suite,
                                          Waiving& waiving);

}  // namespace tidemark
