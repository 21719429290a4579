// What compare needs of one report, in columns: a report of two million results holds 300 MB of
// rows, its facts 28 MB, so that reports are read one after the other.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/store/report.hpp"

namespace tidemark {

/// One thing that may differ between launches: "vbios", "96.00.A5.00.1A". Empty: not known.
struct Factor {
  std::string name, value;
};

struct FactsOfGpu {
  std::string uuid;       // empty: its rank never reported
  std::string node = {};  // hostname
  std::string boot = {};
  std::string serial = {};
  std::uint32_t number = 0;                // gpu_id
  std::vector<std::string> values;         // in the order of gpu_factor_names(); empty: not known
  std::vector<std::string> identity = {};  // in the order of gpu_identity_names()
  std::vector<double> readings = {};       // in the order of gpu_readings(); NaN: not read
};

/// Names of what is known of each GPU and its machine and may cause a change: "driver" and
/// "cuda_driver" first, then the facts of the tables `gpus` and `nodes`, and of the launch
/// "throttling" (heat and power brakes seen beside results) and "events" (Xid and ECC events).
const std::vector<std::string>& gpu_factor_names();
inline constexpr std::size_t kDriverFactors = 2;

/// Names of what says which GPU it is and where: no cause.
const std::vector<std::string>& gpu_identity_names();

/// What was read of a GPU while it worked, one number a launch.
struct Reading {
  std::string_view name, unit;
  double alike = 0;       // numbers that differ by less say nothing
  bool relative = false;  // `alike` is a share of the number
  bool cause = false;     // may be why results differ, and is not only what they come with
};
std::span<const Reading> gpu_readings();

/// Samples below which their slowest tenth is one or two of them.
inline constexpr std::size_t kFewestForTail = 30;

/// Of what is counted: a number that hardly differs between launches is exact, where a rate or a
/// time of three launches may be close to each other by chance.
inline bool is_count(std::string_view unit) { return unit == "cycles"; }

/// One metric of one case: a value a GPU.
struct SeriesOfLaunch {
  std::uint32_t of_case = 0;
  std::string name, unit;
  bool higher_is_better = true;
  std::vector<double> medians;  // by GPU; NaN where its result did not pass or has none
  /// By GPU how far the slowest tenth of the samples, or the mean of all where that is slower, lies
  /// from their median, natural logarithm, below 0 for slower; NaN with fewer than kFewestForTail.
  /// Empty where no GPU has as many.
  std::vector<float> tails = {};
  /// GPUs that passed with 0 of what is better when lower: the time of an exchange with nobody.
  std::set<std::uint32_t> noughts = {};
};

/// GPUs of a case whose failures are kept with reason and replay line: a fleet on which everything
/// fails would else be hundreds of megabytes.
inline constexpr std::size_t kEvidenceOfCase = 256;

/// Why a result is no pass, and how to run it again.
struct Evidence {
  std::string reason, replay;
};

/// A row of the table `answers`.
struct AnswerOfLaunch {
  std::uint32_t of_case = 0, gpu = 0;
  std::uint32_t subject = 0, question = 0, unit = 0;  // of LaunchFacts::answer_texts
  std::int64_t answer = 0;
  std::array<std::int64_t, 16> map{};
};

struct LaunchFacts {
  std::string path;
  LaunchRow launch;
  std::vector<Factor>
      factors;  // of the launch: level, seed, trees, compilers, arguments, variables
  std::vector<FactsOfGpu> gpus;
  std::vector<std::string> cases;
  std::vector<bool> over_all_gpus;  // by case: its GPUs work on one thing together
  std::vector<Verdict> verdicts;    // case * GPUs + GPU
  /// By cell of `verdicts`: what each result that the launch itself waived would have been.
  std::map<std::size_t, Verdict> waived_by_launch;
  std::vector<std::uint64_t> descriptors;  // the same; 0 without any, or where rows are missing
  /// The same: of a pass the rows that ran, else those that were planned.
  std::vector<std::uint32_t> rows;
  std::vector<SeriesOfLaunch> series;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> behaviours;  // case, GPU: notes
  /// By case and GPU, of results that did not pass; of a case at most kEvidenceOfCase.
  std::map<std::pair<std::uint32_t, std::uint32_t>, Evidence> evidence;
  std::map<std::string, std::string> slowed;  // cases slowed on purpose: "3 %"
  std::vector<AnswerOfLaunch> answers;
  std::vector<std::string> answer_texts;
};

/// Every result as it would be if the launch had had no waivers; `waived_by_launch` stays.
void forget_waivers(LaunchFacts& facts);

/// A pass that ran fewer rows than planned, with failed rows, or with a number that is none, is
/// not_run. Throws ReportError where a GPU, a case or a number stands in the report twice.
LaunchFacts facts_of(const Report& report, const std::string& path);

}  // namespace tidemark
