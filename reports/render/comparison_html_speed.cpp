// Speed before and after, on a page: a strip plot each metric that changed, then every metric in a
// table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reports/compare/places.hpp"
#include "reports/compare/told.hpp"
#include "reports/render/comparison_html.hpp"
#include "reports/render/escape.hpp"
#include "reports/render/html/document.hpp"
#include "reports/render/html/strip_plot.hpp"
#include "reports/render/page.hpp"

namespace tidemark::reports {
namespace {

using Values = std::vector<const SeriesOfLaunch*>;

/// One side: a dot a launch, a stroke each GPU of each launch.
StripRow side_of(const Comparison& comparison, const SpeedFinding& finding, const Values& values,
                 bool fresh) {
  const Pairing& pairing = comparison.pairing;
  StripRow made{.label = fresh ? "after" : "before", .samples = {}, .dots = {}};
  const std::size_t first = fresh ? pairing.base : 0;
  const std::size_t end = fresh ? pairing.launches.size() : pairing.base;
  for (std::size_t i = first; i < end; ++i) {
    if (values[i] != nullptr) {
      made.samples.insert(made.samples.end(), values[i]->medians.begin(), values[i]->medians.end());
    }
    if (i >= finding.launches.size() || std::isnan(finding.launches[i])) continue;
    const double value = std::exp((finding.higher_is_better ? 1 : -1) * finding.launches[i]);
    made.dots.push_back(
        {.value = value,
         .label = fmt::format("{}: {} {}, mean over {}", pairing.launches[i]->path,
                              short_number(value), finding.unit, plural(finding.gpus, "GPU"))});
  }
  return made;
}

/// GPUs that changed unlike the others, a dot each.
StripRow apart_of(const Comparison& comparison, const GpuFinding& found, const Values& values,
                  bool fresh) {
  StripRow made{.label = fmt::format("{} GPU{} apart, {}", found.gpus.size(),
                                     found.gpus.size() == 1 ? "" : "s", fresh ? "after" : "before"),
                .samples = {},
                .dots = {}};
  for (const std::uint32_t gpu : found.gpus) {
    const double value = mean_on(comparison, values, gpu, fresh);
    made.dots.push_back(
        {.value = value,
         .label = fmt::format("{}: {}", place_of(comparison.pairing, {gpu}), short_number(value))});
  }
  return made;
}

std::string plot_of(const Comparison& comparison, const SpeedFinding& finding) {
  const Values values = values_of(comparison, finding);
  StripPlot plot{.title = fmt::format("{} {}: {} {} of its own, {} in all",
                                      comparison.pairing.cases[finding.of_case], finding.metric,
                                      heading_of(finding), percent(finding.own.effect),
                                      percent(finding.total)),
                 .unit = finding.unit,
                 .higher_is_better = finding.higher_is_better,
                 .rows = {side_of(comparison, finding, values, false),
                          side_of(comparison, finding, values, true)}};
  for (const GpuFinding& found : comparison.speed.gpus) {
    if (found.of_case != finding.of_case || found.metric != finding.metric) continue;
    plot.rows.push_back(apart_of(comparison, found, values, false));
    plot.rows.push_back(apart_of(comparison, found, values, true));
  }
  return svg_of(plot);
}

HtmlCell percent_cell(double logarithm) {
  if (std::isnan(logarithm)) return text_cell("-");
  return {.html = percent(logarithm), .order = std::expm1(logarithm)};
}

std::vector<HtmlCell> row_of(const Comparison& comparison, const SpeedFinding& finding) {
  const bool bad = finding.verdict == SpeedVerdict::regressed && !finding.waived;
  const char* const kind = bad                                         ? "bad"
                           : finding.verdict == SpeedVerdict::improved ? "good"
                           : finding.verdict == SpeedVerdict::same     ? "muted"
                                                                       : "warn";
  const bool compared = finding.verdict != SpeedVerdict::not_compared;
  const double none = std::numeric_limits<double>::quiet_NaN();
  return {
      {.html = fmt::format("<span class=\"{}\">{}{}</span>", kind, finding.waived ? "waived " : "",
                           name_of(finding.verdict))},
      {.html = fmt::format("<code>{}</code>", for_html(comparison.pairing.cases[finding.of_case]))},
      text_cell(finding.metric),
      number_cell(compared ? finding.base_value : none),
      number_cell(compared ? finding.fresh_value : none),
      text_cell(finding.unit),
      percent_cell(compared ? finding.total : none),
      percent_cell(compared ? finding.own.effect : none),
      percent_cell(compared ? finding.own.margin() : none),
      text_cell(finding.reference),
      number_cell(compared ? finding.own.q : none),
      percent_cell(finding.floor),
      percent_cell(compared ? finding.smallest_seen : none),
      percent_cell(finding.smallest_stored),
      count_cell(finding.gpus),
      text_cell(finding.why)};
}

std::string table_of(const Comparison& comparison, const ComparisonLimits& limits) {
  const std::vector<const SpeedFinding*> order = speed_in_order(comparison, true);
  std::vector<std::vector<HtmlCell>> rows;
  for (const SpeedFinding* finding : order) {
    if (rows.size() < limits.table_rows) rows.push_back(row_of(comparison, *finding));
  }
  return "<h3>Every metric</h3>\n" +
         html_table("every-metric", "every metric",
                    {{"verdict"},
                     {"case"},
                     {"metric"},
                     {"before", true},
                     {"after", true},
                     {"unit"},
                     {"in all", true},
                     {"of its own", true},
                     {"95 % within +-", true},
                     {"others of the model", true},
                     {"q", true},
                     {"counts from", true},
                     {"would be seen", true},
                     {"by stored noise", true},
                     {"GPUs", true},
                     {"why"}},
                    rows) +
         comparison_left_out(order.size() - rows.size(), "metric");
}

}  // namespace

std::vector<const SeriesOfLaunch*> values_of(const Comparison& comparison,
                                             const SpeedFinding& finding) {
  const Pairing& pairing = comparison.pairing;
  Values made;
  for (std::size_t i = 0; i < pairing.launches.size(); ++i) {
    const std::uint32_t row = pairing.case_rows[i][finding.of_case];
    const std::vector<SeriesOfLaunch>& all = pairing.launches[i]->series;
    const auto at = std::find_if(all.begin(), all.end(), [&](const SeriesOfLaunch& series) {
      return series.of_case == row && series.name == finding.metric;
    });
    made.push_back(at == all.end() ? nullptr : &*at);
  }
  return made;
}

double mean_on(const Comparison& comparison, const std::vector<const SeriesOfLaunch*>& values,
               std::size_t gpu, bool fresh) {
  const Pairing& pairing = comparison.pairing;
  double sum = 0;
  std::size_t n = 0;
  for (std::size_t i = fresh ? pairing.base : 0;
       i < (fresh ? pairing.launches.size() : pairing.base); ++i) {
    const std::uint32_t row = pairing.gpu_rows[i][gpu];
    if (values[i] == nullptr || row == kNoRow || std::isnan(values[i]->medians[row])) continue;
    sum += std::log(values[i]->medians[row]);
    ++n;
  }
  return n == 0 ? std::numeric_limits<double>::quiet_NaN() : std::exp(sum / static_cast<double>(n));
}

std::string html_comparison_speed(const Comparison& comparison, const ComparisonLimits& limits) {
  if (comparison.speed.series.empty()) return "<p>Nothing was measured.</p>\n";
  std::string made;
  made +=
      "<p class=\"muted\">A dot is a launch, the mean over its GPUs, and what is tested; a stroke "
      "a "
      "GPU of a launch. Here stand those that did not stay the same, the worst first. An effect "
      "above 0 is "
      "better.</p>\n";
  std::size_t plots = 0, changed = 0;
  for (const SpeedFinding* finding : speed_in_order(comparison, limits.same_too)) {
    if (finding->verdict == SpeedVerdict::not_compared) continue;
    if (++changed > limits.plots) continue;
    made += plot_of(comparison, *finding);
    ++plots;
  }
  made += comparison_left_out(changed - plots, "plot");
  return made + table_of(comparison, limits);
}

}  // namespace tidemark::reports
