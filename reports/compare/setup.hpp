// What differs between the two sides apart from the results: the driver, which is what compare is
// asked about, and everything else that could be the cause instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/pairing.hpp"

namespace tidemark {

/// Something recorded that is not the same on both sides.
struct SetupDifference {
  std::string factor = {};  // "driver", "vbios", "seed", ...
  std::string base = {},
              fresh = {};  // values, the commonest first; "unknown" where none was recorded
  std::size_t gpus = 0;    // that it concerns; 0: the launch as a whole
  bool subject = false;    // the driver itself
  bool allowed = false;    // the user says that it is not the cause
  bool idle = false;       // nothing that changed depends on it
};

/// What a change of the results can be put down to.
enum class Cause { driver, nothing_recorded, confounded };

/// A clock or the power draw: beyond all launches of the other side, in the mean over paired GPUs.
struct ReadingShift {
  std::string_view name;
  double change = 0;  // from median to median, natural logarithm
};

struct SetupComparison {
  std::vector<SetupDifference> differences;  // the driver first
  std::vector<std::string> remarks;          // what was not recorded, boots
  Cause cause = Cause::nothing_recorded;
  bool in_sequence = false;  // one side ran after the other
  bool backwards = false;    // the base ran after the new side
  bool one_boot = false;     // a side has one boot of some node, and not the other's
  std::vector<ReadingShift> shifts;
  std::vector<std::uint32_t> subject_gpus;  // indices into the pairing: those whose driver changed

  bool differs(std::string_view factor) const;
  /// Adds what was seen beside the recorded facts, and finds the cause with it.
  void add(SetupDifference difference);
  /// Says that nothing that changed depends on this factor, and finds the cause without it.
  void set_idle(std::string_view factor);
};

/// `allowed`: factors that do not count as confounders.
SetupComparison compare_setups(const Pairing& pairing, PairBy by,
                               const std::set<std::string>& allowed);

/// Every name that `allowed` may hold; "environment" stands for all variables.
std::vector<std::string_view> factor_names();

}  // namespace tidemark
