// What a comparison has to say.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/comparison.hpp"
#include "reports/document/document.hpp"

namespace tidemark::reports {

/// The verdict first, then what changed, then speed, then what else differs. Under confounders the
/// word "driver" stands in the list of differences alone.
Document document_of(const Comparison& comparison, const ShowOptions& options);

/// Nodes (few GPUs: each GPU) against cases.
Section map_of(const Comparison& comparison, const ShowOptions& options);

/// On a page: a strip plot each metric that did not stay the same. There and in a review: the
/// metrics in a table.
void add_speed(Section& section, const Comparison& comparison, const ShowOptions& options);

/// A metric in a table, and what programs call each of its columns; empty: they do not have it.
struct SpeedColumn {
  std::string_view heading, name;
};
inline constexpr SpeedColumn kSpeedColumns[] = {{"verdict", "finding"},
                                                {"case", "case"},
                                                {"metric", "metric"},
                                                {">before", "base"},
                                                {">after", "new"},
                                                {"unit", "unit"},
                                                {">in all", "total_percent"},
                                                {">of its own", "own_percent"},
                                                {">95 % within +-", "margin_95_percent"},
                                                {"others of the model", "reference"},
                                                {">GPUs", "gpus"},
                                                {"why", "why"},
                                                {">q", "q"},
                                                {">counts from", "floor_percent"},
                                                {">would be seen", "smallest_seen_percent"}};
std::vector<Cell> row_of(const Comparison& comparison, const SpeedFinding& finding);

/// The values of a metric by launch; nullptr where a launch has none.
std::vector<const SeriesOfLaunch*> values_of(const Comparison& comparison,
                                             const SpeedFinding& finding);

/// Of one GPU over the launches of a side: the mean of the logarithms, in the unit; NaN without
/// any. `gpu`: index into the pairing.
double mean_on(const Comparison& comparison, const std::vector<const SeriesOfLaunch*>& values,
               std::size_t gpu, bool fresh);

/// Every number behind the verdicts on one case. Throws ReportError where no report has it.
std::vector<Block> explanation_of(const Comparison& comparison, std::string_view name);

/// Everything as JSON.
std::string comparison_json(const Comparison& comparison);

/// A line each case and GPU, then a line each metric, then a line each metric of each GPU that
/// changed unlike the others.
std::string comparison_csv(const Comparison& comparison);

/// A test each kind of finding and a test each case. What `fail_on` names (as findings_of has it)
/// is a failure, what is missing an error; what is found and not named there is skipped, as is
/// everything of the virtual device.
std::vector<TestSuite> tests_of(const Comparison& comparison, const std::set<std::string>& fail_on);

}  // namespace tidemark::reports
