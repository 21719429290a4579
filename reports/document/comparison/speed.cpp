// Speed before and after, on a page: a strip plot each metric that changed, then every metric in a
// table.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "reports/base/words.hpp"
#include "reports/document/comparison/document.hpp"

namespace tidemark {
namespace {

using Values = std::vector<const SeriesOfLaunch*>;

/// By launch; nullptr where it has none.
Values values_of(const Comparison& comparison, const SpeedFinding& finding) {
  const Pairing& pairing = comparison.pairing;
  Values made;
  for (std::size_t i = 0; i < pairing.launches.size(); ++i) {
    const std::uint32_t row = pairing.case_rows[i][finding.of_case];
    const std::vector<SeriesOfLaunch>& all = pairing.launches[i]->series;
    const auto at = std::ranges::find_if(all, [&](const SeriesOfLaunch& series) {
      return series.of_case == row && series.name == finding.metric;
    });
    made.push_back(at == all.end() ? nullptr : &*at);
  }
  return made;
}

/// Of one GPU over the launches of a side: the mean of the logarithms, in the unit; NaN without
/// any.
double mean_on(const Comparison& comparison, const Values& values, std::size_t gpu, bool fresh) {
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

/// One side: a dot a launch, a stroke each GPU of each launch.
StripRow side_of(const Comparison& comparison, const SpeedFinding& finding, const Values& values,
                 bool fresh) {
  const Pairing& pairing = comparison.pairing;
  StripRow made{.label = fresh ? "after" : "before"};
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
  StripRow made{.label =
                    fmt::format("{} GPU{} apart, {}", found.gpus.size(),
                                found.gpus.size() == 1 ? "" : "s", fresh ? "after" : "before")};
  for (const std::uint32_t gpu : found.gpus) {
    const double value = mean_on(comparison, values, gpu, fresh);
    made.dots.push_back(
        {.value = value,
         .label = fmt::format("{}: {}", place_of(comparison.pairing, {gpu}), short_number(value))});
  }
  return made;
}

StripPlot plot_of(const Comparison& comparison, const SpeedFinding& finding) {
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
    if (!found.covers(finding.of_case, finding.metric)) continue;
    plot.rows.push_back(apart_of(comparison, found, values, false));
    plot.rows.push_back(apart_of(comparison, found, values, true));
  }
  return plot;
}

/// On a page every metric, in a review those that did not stay the same.
void add_table(Section& section, const Comparison& comparison, Readers readers, std::size_t most) {
  const bool page = readers == kOnPage;
  const std::size_t columns = page ? std::size(kSpeedColumns) : 12;  // a review has no room for all
  TextTable table{.id = "every-metric", .label = "every metric"};
  for (const SpeedColumn& column : std::span(kSpeedColumns).first(columns)) {
    table.columns.push_back(headings({column.heading}).front());
  }
  if (page) section.add(Subheading{"Every metric"}, readers);
  const std::vector<const SpeedFinding*> order = speed_in_order(comparison, page);
  const std::size_t shown = std::min(order.size(), most);
  for (std::size_t i = 0; i < shown; ++i) {
    table.rows.push_back(row_of(comparison, *order[i]));
    table.rows.back().resize(columns);
  }
  if (!table.rows.empty()) section.add(std::move(table), readers);
  section.leave_out(order.size(), shown, "metric", readers);
}

}  // namespace

std::vector<const SpeedFinding*> speed_in_order(const Comparison& comparison, bool all) {
  std::vector<const SpeedFinding*> made;
  for (const SpeedFinding& finding : comparison.speed.series) {
    if (all || !is_kept(finding.verdict)) made.push_back(&finding);
  }
  // NaN compares with nothing, and a sort may then do anything.
  const auto size_of = [](const SpeedFinding* finding) {
    return std::isnan(finding->own.effect) ? -1.0 : std::abs(finding->own.effect);
  };
  std::ranges::stable_sort(made, [&](const auto* a, const auto* b) {
    if (a->verdict != b->verdict) return a->verdict < b->verdict;
    return size_of(a) > size_of(b);
  });
  return made;
}

std::vector<Cell> row_of(const Comparison& comparison, const SpeedFinding& finding) {
  const bool bad = finding.verdict == SpeedVerdict::regressed && !finding.waived;
  const bool compared = finding.verdict != SpeedVerdict::not_compared;
  const auto if_compared = [&](double value) {
    return compared ? value : std::numeric_limits<double>::quiet_NaN();
  };
  return {{.text = fmt::format("{}{}", finding.waived ? "waived " : "", name_of(finding.verdict)),
           .tone = bad                                         ? Tone::bad
                   : finding.verdict == SpeedVerdict::improved ? Tone::good
                   : is_kept(finding.verdict)                  ? Tone::quiet
                                                               : Tone::warn},
          code_cell(comparison.pairing.cases[finding.of_case]),
          text_cell(finding.metric),
          number_cell(if_compared(finding.base_value)),
          number_cell(if_compared(finding.fresh_value)),
          text_cell(finding.unit),
          percent_cell(if_compared(finding.total)),
          percent_cell(if_compared(finding.own.effect)),
          percent_cell(if_compared(finding.own.margin())),
          text_cell(finding.reference),
          count_cell(finding.gpus),
          text_cell(finding.why),
          number_cell(if_compared(finding.own.q)),
          percent_cell(finding.floor),
          percent_cell(if_compared(finding.smallest_seen))};
}

void add_speed(Section& section, const Comparison& comparison, const ShowOptions& options) {
  if (comparison.speed.series.empty()) {
    return section.add(Line{.as = Line::As::paragraph, .text = {"Nothing was measured."}}, kOnPage);
  }
  section.add(Line{.as = Line::As::muted,
                   .text = {"A dot is a launch, the mean over its GPUs, and what is tested; a "
                            "stroke a GPU of a launch. Here stand those that did not stay the "
                            "same, the worst first. An effect above 0 is better."}},
              kOnPage);
  std::vector<const SpeedFinding*> plots = speed_in_order(comparison, options.all);
  std::erase_if(plots, [](const SpeedFinding* finding) {
    return finding->verdict == SpeedVerdict::not_compared;
  });
  const auto plot = [&comparison, plots](std::size_t i) { return plot_of(comparison, *plots[i]); };
  section.add(List{plots.size(), {.page = 60}, "plot", plot}, kOnPage);
  add_table(section, comparison, kOnPage, options.most(3000));
  add_table(section, comparison, kInReview, Most::kAll);
}

}  // namespace tidemark
