// Launches in the order of time, and what else differs between two of them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "reports/base/words.hpp"
#include "reports/compare/launch_facts.hpp"
#include "reports/compare/pairing.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {

// What a history keeps of each report: a number a metric and GPU, counts a case, and the setup by
// reference to setups that were seen before. Reports come one after the other and are let go.

struct PastLaunch {
  std::string path, run_id, series_id, level, device, tool_version;
  std::string incomplete_reason;  // empty: it is complete
  double at_unix_s = 0;
  bool is_virtual = false, anonymised = false;
  std::uint32_t previous = kNoRow;  // the launch before on its kind of device: GPUs, or virtual
  std::array<std::size_t, kVerdicts> verdicts{};
  std::vector<Factor> factors;                // of the launch as a whole
  std::map<std::string, std::string> slowed;  // cases slowed on purpose: "3%"
  std::vector<std::uint32_t> gpus = {};       // by its GPU numbers: index into Chronicle::gpus
  std::vector<std::uint32_t> gpu_setup = {};  // by its GPU numbers: index into Chronicle::setups
};

/// A GPU of any launch.
struct PastGpu {
  std::string key;           // UUID, or "GPU 3" where paired by number
  std::string node;          // hostname in the newest launch that has it
  std::uint32_t number = 0;  // gpu_id there
  double at_unix_s = 0;      // when that began
};

/// What one launch measured: a value a GPU, in the order of PastLaunch::gpus, NaN where none.
struct PastValues {
  std::uint32_t launch = 0;
  std::vector<float> medians =
      {};  // seven digits: a hundredth of a millionth of what is looked for
};

/// What must be equal for two values to be of one series. Launches of other levels measure other
/// sizes; GPUs that work on one thing are as fast as their number lets them.
struct MetricKey {
  std::string case_name, metric, unit, level;
  bool is_virtual = false;
  std::uint32_t gpus = 0;  // 0: each GPU for itself
  bool higher_is_better = true;

  auto operator<=>(const MetricKey&) const = default;
};

/// The results of one case in one launch.
struct PastResults {
  std::uint32_t launch = 0;
  Verdict worst = Verdict::pass;
  std::uint32_t passed = 0, bad = 0, waived = 0, lacking = 0, quiet = 0;  // GPUs
  std::uint32_t rows = 0;              // fewest that any GPU ran which passed, else most planned
  bool numbered = false;               // a GPU has a number of it
  std::vector<Verdict> verdicts = {};  // by GPU of the launch; empty where all of them passed
  std::vector<std::uint32_t> bad_gpus =
      {};  // the first bad or waived, indices into Chronicle::gpus
};

struct Chronicle {
  PairBy pair_by = PairBy::uuid;
  std::vector<PastLaunch> launches;
  std::vector<PastGpu> gpus;
  std::vector<std::vector<std::string>> setups;  // values of gpu_factor_names(), then the boot
  std::map<MetricKey, std::vector<PastValues>> metrics;
  std::map<std::pair<bool, std::string>, std::vector<PastResults>> cases;  // virtual, name
  std::map<std::string, std::uint32_t> gpu_places;                         // by key
  std::map<std::vector<std::string>, std::uint32_t> setup_places;
  std::map<std::string, std::string> paths;  // by run id
  /// Launches that begin a release of a GPU (an index into `gpus`), or of the fleet (kNoRow).
  std::map<std::uint32_t, std::vector<std::uint32_t>> releases;
};

/// Names of PastLaunch::gpu_setup's values.
const std::vector<std::string>& setup_names();

/// Adds one launch, in any order. Throws ReportError where its time is no time of this or the next
/// century, or where this launch was added before (one file under two names, a copy);
/// std::logic_error, and nothing is added, where a column has not a cell for each case and GPU.
void record_launch(Chronicle& all, const LaunchFacts& facts);

/// Puts launches in the order of their time; call it once, after the last.
void sort_by_time(Chronicle& all);

/// Of launches in the order of their time: passes of a launch without any number of a case are
/// `not_run` where an earlier launch of its level and suite has some.
void miss_lost_numbers(Chronicle& all);

// What was not the same in two launches apart from what they measured: driver, VBIOS, git hash, ...

struct SetupChange {
  std::string factor, before, after;  // "driver"; values, several with commas; "unknown"
};

/// Factors that differ between more than half of all neighbouring launches (of four or more), such
/// as a job's number: that one of them differs says nothing.
std::set<std::string> restless_factors(const Chronicle& all);

/// Another level is to be expected behind them. "gpu": others took the place of some.
inline constexpr std::array<std::string_view, 6> kReleaseFactors = {
    "driver", "product", "gpu", "tool_version", "kernels_tree", "suite_tree"};
/// Those among all changes whose values are both known, or else the others.
std::vector<SetupChange> releases_in(std::vector<SetupChange> setup, bool wanted = true);

/// Driver first. With `gpu`, an index into Chronicle::gpus, only its own setup is looked at, else
/// that of all GPUs. The seed is no setup; names are not compared where one of the reports is
/// anonymised.
std::vector<SetupChange> setup_changes(const Chronicle& all, const std::set<std::string>& restless,
                                       std::uint32_t before, std::uint32_t after,
                                       std::uint32_t gpu = kNoRow);

/// The value of one factor in one launch: "580.105.08", "580.105.08, 590.44.01"; "unknown" comes
/// first where only some GPUs have it, and it is empty where none has. `gpu`: of that GPU alone.
std::string setup_value(const Chronicle& all, std::uint32_t launch, std::string_view factor,
                        std::uint32_t gpu = kNoRow);

}  // namespace tidemark
