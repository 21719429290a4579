// The values of a metric over launches and GPUs, and those that were lost.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reports/compare/pairing.hpp"
#include "reports/compare/speed/moderated.hpp"

namespace tidemark {

// The values of one metric of one case over all launches and GPUs.

/// GPUs below which one that changed cannot be told from the others.
inline constexpr std::size_t kFewestGpus = 4;

struct Series {
  std::uint32_t of_case = 0;  // index into the pairing
  std::string metric, unit;
  bool higher_is_better = true;
  std::string unfit = {};           // why its launches cannot be held against each other
  std::vector<std::uint32_t> gpus;  // with a value on each side; the pairing's indices
  std::vector<bool> partial;        // by those: lacks one in a launch where others have theirs
  /// Paired GPUs that are not among them.
  std::vector<std::uint32_t> without = {};
  /// GPUs that lack a value in the base alone: nothing else says that the new side has changed.
  std::vector<std::uint32_t> lost_in_base = {};
  /// Launches of which no value is used, because a GPU has none in it.
  std::size_t launches_left_out = 0;
  LaunchMatrix goodness{0, 0, 0};  // GPUs x launches: logarithm, above for better
  LaunchMatrix tails{0, 0, 0};     // GPUs x launches: SeriesOfLaunch::tails
  double floor = 0;                // least effect that counts in this case
};

/// By case (of the pairing) and metric, by launch: the series there, nullptr where it has none.
using Sources = std::vector<const SeriesOfLaunch*>;
std::map<std::pair<std::uint32_t, std::string>, Sources> sources_of(const Pairing& pairing);

/// Of the first launch that has it.
const SeriesOfLaunch& first_of(const Sources& sources);

/// Whether both mean the same by the name: unit and direction.
bool alike(const SeriesOfLaunch& one, const SeriesOfLaunch& other);

/// Every series of any launch, by case and metric; not those without a value on any paired GPU, as
/// of an exchange with nobody: there is nothing to miss.
std::vector<Series> series_of(const Pairing& pairing);

// Numbers that are gone: a result that passed without them is missing.

/// Every result of `base` and `fresh` that passed without a finite number above 0 of a metric that
/// its case has on any GPU of any launch, or with one in another unit or direction than in the
/// first launch, or without the samples that another launch has of it, becomes `not_run`, with the
/// reason as evidence; of the `same_suite` also one with a tenth fewer rows than elsewhere, or
/// without their tensor maps. `pairing` is of these launches.
void miss_lost_numbers(const Pairing& pairing, bool same_suite, std::vector<LaunchFacts>& base,
                       std::vector<LaunchFacts>& fresh);

/// "series 5f3a: launch 3 of 5 is not given": for each side and series that it has a part of.
std::vector<std::string> incomplete_series(const Pairing& pairing);

}  // namespace tidemark
