// The sections of a comparison's HTML page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/comparison.hpp"

namespace tidemark::reports {

/// What fits a page that a browser opens at once; `--all` lifts it.
struct ComparisonLimits {
  std::size_t findings = 300;
  std::size_t map_rows = 64, map_columns = 240;
  std::size_t plots = 60;
  std::size_t table_rows = 3000;

  bool same_too = false;  // plots of what stayed the same

  static ComparisonLimits of(bool all) {
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    return all ? ComparisonLimits{kNone, kNone, kNone, kNone, kNone, true} : ComparisonLimits{};
  }
};

/// "... and 17 more cases: tidemark compare --html --all has all"; nothing where there are none.
std::string comparison_left_out(std::size_t number, std::string_view what);

/// The values of a metric by launch; nullptr where a launch has none.
std::vector<const SeriesOfLaunch*> values_of(const Comparison& comparison,
                                             const SpeedFinding& finding);

/// Of one GPU over the launches of a side: the mean of the logarithms, in the unit; NaN without
/// any. `gpu`: index into the pairing.
double mean_on(const Comparison& comparison, const std::vector<const SeriesOfLaunch*>& values,
               std::size_t gpu, bool fresh);

/// Nodes (few GPUs: each GPU) against cases.
std::string html_comparison_map(const Comparison& comparison, const ComparisonLimits& limits);

/// A strip plot each metric that did not stay the same, then every metric in a table.
std::string html_comparison_speed(const Comparison& comparison, const ComparisonLimits& limits);

}  // namespace tidemark::reports
