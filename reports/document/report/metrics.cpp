// What was measured: a table for each benchmark with a line a GPU, or one over all of them; plots.
#include "reports/document/report/document.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"

namespace tidemark {

std::map<std::uint32_t, std::vector<Measured>> measured_of(const Report& report) {
  std::map<std::uint32_t, std::vector<Measured>> made;
  for (const MetricRow& row : report.metrics) {
    auto& of_case = made[report.results[row.result_id].case_id];
    const std::string_view name = report.text(row.name), unit = report.text(row.unit);
    auto at = std::ranges::find_if(of_case, [&](const Measured& measured) {
      return measured.name == name && measured.unit == unit;
    });
    if (at == of_case.end()) {
      of_case.push_back(
          {.name = name, .unit = unit, .higher_is_better = row.higher_is_better != 0});
      at = std::prev(of_case.end());
    }
    at->rows.push_back(&row);
  }
  for (auto& [case_id, all] : made) {
    for (Measured& measured : all)
      std::ranges::stable_sort(measured.rows, {}, [&](const MetricRow* row) {
        return report.results[row->result_id].gpu_id;
      });
  }
  return made;
}

std::vector<const MetricRow*> counted_of(const Report& report, const Measured& measured) {
  std::vector<const MetricRow*> made;
  for (const MetricRow* row : measured.rows)
    if (report.results[row->result_id].verdict == Verdict::pass) made.push_back(row);
  return made;
}

Statistics slowest_of(const Report& report, const Measured& measured) {
  std::size_t samples = measured.rows.front()->n;
  for (const MetricRow* row : measured.rows) samples = std::min<std::size_t>(samples, row->n);
  std::vector<double> worst;
  for (std::size_t i = 0; i < samples; ++i) {
    double value = report.samples[measured.rows.front()->first_sample + i].value;
    for (const MetricRow* row : measured.rows) {
      const double other = report.samples[row->first_sample + i].value;
      // A rank without a number leaves the sample without one; it must not drop out of the minimum.
      if (std::isnan(value) || std::isnan(other)) {
        value = std::nan("");
      } else {
        value = measured.higher_is_better ? std::min(value, other) : std::max(value, other);
      }
    }
    worst.push_back(value);
  }
  return statistics_of(std::move(worst));
}

const Reference* reference_of(const Report& report, const MetricRow& row) {
  constexpr std::size_t kFewest = 10;  // of fewer values the 5th percentile is the least of them
  const ResultRow& result = report.results[row.result_id];
  const CaseRow& of = report.cases[result.case_id];
  const References& all = committed_references();
  const auto at = all.find({.product = std::string(report.text(report.gpus[result.gpu_id].name)),
                            .of_case = std::string(of.name.view()),
                            .metric = std::string(report.text(row.name)),
                            .unit = std::string(report.text(row.unit)),
                            .gpus = report.text(of.scope) == "all_gpus" ? report.gpus.size() : 1});
  return at == all.end() || at->second.values < kFewest ? nullptr : &at->second;
}

namespace {

// More GPUs than this are shown as one line a metric, and so is a table that would grow longer.
constexpr std::size_t kFewGpus = 4;
constexpr std::size_t kFewLines = 16;

/// Whether each GPU has a line of its own.
bool each_gpu(const std::vector<Measured>& all, const ShowOptions& options) {
  std::size_t lines = 0, gpus = 0;
  for (const Measured& measured : all) {
    lines += measured.rows.size();
    gpus = std::max(gpus, measured.rows.size());
  }
  return options.all || gpus <= 1 || (gpus <= kFewGpus && lines <= kFewLines);
}

/// The cells of one line of the table.
struct Row {
  std::string metric, gpu, median, model, mad, n, range, unit, sm_mhz, power, temperature;
  double value = 0;                       // the median
  std::string gain = {}, published = {};  // of tables that have something in them
};

struct RowColumn {
  std::string Row::*cell = nullptr;
  Heading heading;
};

constexpr std::array kColumns{RowColumn{&Row::metric, {"metric"}},
                              RowColumn{&Row::gpu, {"GPU", true}},
                              RowColumn{&Row::median, {"median", true}},
                              RowColumn{&Row::model, {"model p5..p95", true}},
                              RowColumn{&Row::mad, {"mad", true}},
                              RowColumn{&Row::n, {"n", true}},
                              RowColumn{&Row::range, {"min..max", true}},
                              RowColumn{&Row::unit, {"unit"}},
                              RowColumn{&Row::gain, {"gain", true}},
                              RowColumn{&Row::published, {"published", true}},
                              RowColumn{&Row::sm_mhz, {"SM MHz", true, true}},
                              RowColumn{&Row::power, {"W", true, true}},
                              RowColumn{&Row::temperature, {"C", true, true}}};

/// Without the columns that no row has anything in.
TextTable lines_table(const std::vector<std::vector<Row>>& metrics) {
  TextTable made;
  std::vector<const Row*> lines;
  for (const std::vector<Row>& rows : metrics) {
    for (const Row& row : rows) lines.push_back(&row);
  }
  made.rows.resize(lines.size());
  for (const RowColumn& column : kColumns) {
    if (std::ranges::all_of(lines, [&](const Row* line) { return (line->*column.cell).empty(); }))
      continue;
    made.columns.push_back(column.heading);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const std::string& text = lines[i]->*column.cell;
      made.rows[i].push_back(text_cell(text.empty() ? "-" : text));
    }
  }
  return made;
}

std::string range_of(double low, double high) {
  return short_number(low) + ".." + short_number(high);
}

std::string whole(float value) { return std::isnan(value) ? "-" : fmt::format("{:.0f}", value); }

template <class Of>
Statistics statistics_over(const std::vector<const MetricRow*>& rows, Of of) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const MetricRow* row : rows) values.push_back(static_cast<double>(of(*row)));
  return statistics_of(std::move(values));
}

/// "< 686.04..716.67": what the model of these GPUs has, and whether their median lies below or
/// above; empty where they are of several models.
std::string model_text(const Report& report, const std::vector<const MetricRow*>& rows,
                       double median) {
  const Reference* const of = reference_of(report, *rows.front());
  const auto differs = [&](const MetricRow* row) { return reference_of(report, *row) != of; };
  if (of == nullptr || std::ranges::any_of(rows, differs)) return {};
  return (median < of->p5 ? "< " : median > of->p95 ? "> " : "") + range_of(of->p5, of->p95);
}

/// What the column of the model holds; no line where no metric has one.
void add_model_line(Section& section, const Report& report, Readers who) {
  std::set<std::size_t> values;
  for (const MetricRow& row : report.metrics)
    if (const Reference* const of = reference_of(report, row)) values.insert(of->values);
  if (values.empty()) return;
  const std::string counts = fmt::format("{}", fmt::join(values, ", "));
  section.add(Line{.as = Line::As::paragraph,
                   .text = {"model: 5th to 95th percentile of ", counts,
                            " values, one a GPU and launch; < below, > above"},
                   .indent = 2},
              who);
}

/// One line: of one GPU its numbers; of many the medians over them, and the least and greatest of
/// their own medians.
Row row_of(const Report& report, const Measured& measured,
           const std::vector<const MetricRow*>& rows) {
  const MetricRow& first = *rows.front();
  const bool one = rows.size() == 1;
  const auto over = [&](auto of) {
    return one ? static_cast<double>(of(first)) : statistics_over(rows, of).median;
  };
  const auto sensor = [&](float ResultRow::*member) {
    return whole(static_cast<float>(
        over([&](const MetricRow& row) { return report.results[row.result_id].*member; })));
  };
  const Statistics medians = statistics_over(rows, [](const auto& row) { return row.median; });
  const double median = over([](const auto& row) { return row.median; });
  return {.metric = std::string(measured.name),
          .gpu = one ? std::to_string(report.results[first.result_id].gpu_id)
                 : medians.finite == rows.size()
                     ? fmt::format("all {}", rows.size())
                     : fmt::format("{} of {}", medians.finite, rows.size()),
          .median = short_number(median),
          .model = model_text(report, rows, median),
          .mad = short_spread(over([](const auto& row) { return row.mad; })),
          .n = std::to_string((*std::ranges::max_element(rows, {}, &MetricRow::n))->n),
          .range = one ? range_of(first.min, first.max) : range_of(medians.min, medians.max),
          .unit = std::string(measured.unit),
          .sm_mhz = sensor(&ResultRow::sm_mhz),
          .power = sensor(&ResultRow::power_w),
          .temperature = sensor(&ResultRow::temperature_c),
          .value = median};
}

Line slowest_line(const Report& report, const Measured& measured) {
  const Statistics of = slowest_of(report, measured);
  return {.text = {fmt::format(
              "  slowest rank, sample by sample over {} GPUs: {} {} {} (mad {}, n {}, {}..{})",
              measured.rows.size(), measured.name, short_number(of.median), measured.unit,
              short_spread(of.mad), of.finite, short_number(of.min), short_number(of.max))},
          .indent = 4};
}

std::vector<Row> rows_of(const Report& report, const Measured& measured, bool each) {
  if (!each) return {row_of(report, measured, measured.rows)};
  std::vector<Row> lines;
  lines.reserve(measured.rows.size());
  for (const MetricRow* row : measured.rows) lines.push_back(row_of(report, measured, {row}));
  return lines;
}

/// `line`'s median against that of the line for as many GPUs, or the same one, in `below`; empty
/// where that is no number.
std::string gain_of(const Row& line, const std::vector<Row>& below, bool higher_is_better) {
  const auto same = std::ranges::find(below, line.gpu, &Row::gpu);
  if (same == below.end()) return {};
  const double gain = higher_is_better ? line.value / same->value : same->value / line.value;
  return std::isfinite(gain) ? fmt::format("{:.2f}x", gain) : std::string();
}

/// Fills in what `all`, whose lines these are, are printed beside. Returns who published it.
std::set<std::string> put_beside(std::vector<std::vector<Row>>& lines,
                                 const std::vector<Measured>& all, std::string_view name,
                                 const ShowOptions& options) {
  std::set<std::string> published_by;
  if (!options.beside) return published_by;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PrintedBeside beside = options.beside(name, all[i].name);
    const auto below = std::ranges::find_if(all, [&](const Measured& other) {
      return !beside.over.empty() && other.name == beside.over && other.unit == all[i].unit;
    });
    if (beside.published != 0) published_by.insert(beside.published_by);
    for (Row& line : lines[i]) {
      if (below != all.end())
        line.gain = gain_of(line, lines[static_cast<std::size_t>(below - all.begin())],
                            all[i].higher_is_better);
      if (beside.published != 0) line.published = short_number(beside.published);
    }
  }
  return published_by;
}

/// Whose numbers do not count: a line a verdict.
void add_not_passed(Section& section, const Report& report, const Measured& measured) {
  std::map<Verdict, std::vector<std::uint32_t>> gpus;
  for (const MetricRow* row : measured.rows) {
    const ResultRow& result = report.results[row->result_id];
    if (result.verdict != Verdict::pass) gpus[result.verdict].push_back(result.gpu_id);
  }
  for (const auto& [verdict, of_verdict] : gpus) {
    const bool one = of_verdict.size() == 1;
    section.add(Line{.text = {fmt::format("  not a pass on GPU{} {} ({}): {} numbers do not count",
                                          one ? "" : "s", ranges(of_verdict), name_of(verdict),
                                          one ? "its" : "their")},
                     .indent = 4},
                kAtTerminal);
  }
}

void add_case(Section& section, const Report& report, const CaseRow& of,
              const std::vector<Measured>& all, const ShowOptions& options) {
  const bool each = each_gpu(all, options);
  std::vector<std::vector<Row>> rows;  // of each metric
  rows.reserve(all.size());
  for (const Measured& measured : all) rows.push_back(rows_of(report, measured, each));
  const std::set<std::string> published_by = put_beside(rows, all, of.name.view(), options);
  section.add(Subheading{of.name.view()}, kAtTerminal);
  TextTable table = lines_table(rows);
  std::size_t at = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    at += rows[i].size();
    if (report.text(of.scope) == "all_gpus" && all[i].rows.size() > 1) {
      table.below.emplace_back(at, slowest_line(report, all[i]));
    }
  }
  section.add(std::move(table), kAtTerminal);
  for (const std::string& who : published_by) {
    section.add(Line{.text = {"  published: ", who}, .indent = 4}, kAtTerminal);
  }
  add_not_passed(section, report, all.front());
}

using AllMeasured = std::map<std::uint32_t, std::vector<Measured>>;

void add_tables(Section& section, const Report& report, const AllMeasured& measured,
                const ShowOptions& options) {
  if (std::ranges::any_of(
          measured, [&](const auto& of_case) { return !each_gpu(of_case.second, options); })) {
    section.add(
        Line{.text = {"where GPUs share a line: the median over them, and min..max of their own "
                      "medians"}},
        kAtTerminal);
  }
  add_model_line(section, report, kAtTerminal);
  std::size_t shown = 0;
  for (const auto& [case_id, all] : measured) {
    if (shown == options.most(20)) break;
    ++shown;
    add_case(section, report, report.cases[case_id], all, options);
  }
  section.leave_out(measured.size(), shown, "measured case", kAtTerminal);
}

/// One line a metric: of the GPUs on which the case passed.
void add_medians(Section& section, const Report& report, const AllMeasured& measured) {
  section.add(
      Line{.as = Line::As::paragraph, .text = {"Only GPUs count on which the case passed."}},
      kInReview);
  TextTable table{.columns = headings({"case", "metric", ">GPUs", ">median of GPUs", ">least",
                                       ">greatest", "unit"})};
  for (const auto& [case_id, all] : measured) {
    for (const Measured& one : all) {
      std::vector<double> medians;
      for (const MetricRow* row : counted_of(report, one)) medians.push_back(row->median);
      const Statistics of = statistics_of(std::move(medians));
      table.rows.push_back({text_cell(report.cases[case_id].name.view()), text_cell(one.name),
                            text_cell(fmt::format("{} of {}", of.finite, one.rows.size())),
                            number_cell(of.median), number_cell(of.min), number_cell(of.max),
                            text_cell(one.unit)});
    }
  }
  section.add(std::move(table), kInReview);
}

StripDot dot_of(const Report& report, const Measured& measured, const MetricRow& row) {
  const ResultRow& result = report.results[row.result_id];
  const bool counts = result.verdict == Verdict::pass;
  return {.value = row.median,
          .label = fmt::format("{}: median {} {} (mad {}, n {}){}", place_of(report, result.gpu_id),
                               short_number(row.median), measured.unit, short_number(row.mad),
                               row.n, counts ? "" : ", not a pass: does not count"),
          .counts = counts};
}

/// Few GPUs have a line each, more share those of their nodes, and a fleet shares one.
StripPlot plot_of(const Report& report, std::string_view case_name, const Measured& measured) {
  constexpr std::size_t kGpuRows = 16, kNodeRows = 32;
  StripPlot made{.title = fmt::format("{} {}", case_name, measured.name),
                 .unit = std::string(measured.unit),
                 .higher_is_better = measured.higher_is_better};
  std::map<std::string, std::size_t> lines;
  for (const MetricRow* row : measured.rows) {
    const std::uint32_t gpu = report.results[row->result_id].gpu_id;
    const bool alone = measured.rows.size() <= kGpuRows;
    const std::string_view host = host_of(report, gpu);
    const std::string label = alone                             ? fmt::format("GPU {}", gpu)
                              : report.nodes.size() > kNodeRows ? "all GPUs"
                              : host.empty()                    ? "no node"
                                                                : std::string(host);
    const auto [at, fresh] = lines.try_emplace(label, made.rows.size());
    if (fresh || alone) {
      at->second = made.rows.size();
      made.rows.push_back({.label = label});
    }
    StripRow& line = made.rows[at->second];
    line.dots.push_back(dot_of(report, measured, *row));
    for (std::uint64_t i = 0; alone && i < row->n; ++i) {
      line.samples.push_back(report.samples[row->first_sample + i].value);
    }
  }
  return made;
}

std::vector<Cell> number_row(const Report& report, std::string_view case_name,
                             const Measured& measured, const MetricRow& row) {
  const ResultRow& result = report.results[row.result_id];
  const auto sensor = [](float value) { return number_cell(static_cast<double>(value)); };
  return {code_cell(case_name),
          text_cell(measured.name),
          count_cell(result.gpu_id),
          text_cell(host_of(report, result.gpu_id)),
          number_cell(row.median),
          text_cell(model_text(report, {&row}, row.median)),
          number_cell(row.mad),
          count_cell(row.n),
          number_cell(row.min),
          number_cell(row.max),
          text_cell(measured.unit),
          sensor(result.sm_mhz),
          sensor(result.power_w),
          sensor(result.temperature_c),
          text_cell(name_of(result.verdict))};
}

using NamedMetrics = std::vector<std::pair<std::string_view, const Measured*>>;

TextTable every_number(const Report& report, const NamedMetrics& metrics, std::size_t most) {
  TextTable table{
      .id = "numbers",
      .label = "every number",
      .columns = headings({"case", "metric", ">GPU", "node", ">median", ">model p5..p95", ">mad",
                           ">n", ">min", ">max", "unit", ">SM MHz", ">W", ">C", "verdict"})};
  for (const auto& [case_name, one] : metrics) {
    for (const MetricRow* row : one->rows) {
      if (table.rows.size() == most) return table;
      table.rows.push_back(number_row(report, case_name, *one, *row));
    }
  }
  return table;
}

/// Plots and numbers are made for a page alone, and not before one is read: of a thousand GPUs they
/// take hundreds of MB.
void add_plots(Section& section, const Report& report,
               const std::shared_ptr<const AllMeasured>& measured, const ShowOptions& options) {
  section.add(Line{.as = Line::As::muted,
                   .text = {"A dot is the median of a GPU, a stroke one of its samples; a hollow "
                            "dot does not count, its case did not pass. Pointed at, a dot says "
                            "whose it is; of very many on a line the outermost do."}},
              kOnPage);
  NamedMetrics metrics;
  std::size_t lines = 0;
  for (const auto& [case_id, all] : *measured) {
    for (const Measured& one : all) {
      metrics.emplace_back(report.cases[case_id].name.view(), &one);
      lines += one.rows.size();
    }
  }
  const std::size_t plots = std::min(metrics.size(), options.most(60));
  section.add(List{.size = plots,
                   .block = [&report, measured, metrics](std::size_t i) -> Block {
                     return plot_of(report, metrics[i].first, *metrics[i].second);
                   }},
              kOnPage);
  section.leave_out(metrics.size(), plots, "plot", kOnPage);
  section.add(Subheading{"Every number"}, kOnPage);
  add_model_line(section, report, kOnPage);
  const std::size_t shown = std::min(lines, options.most(3000));
  section.add(List{.size = 1,
                   .block = [&report, measured, metrics, shown](std::size_t) -> Block {
                     return every_number(report, metrics, shown);
                   }},
              kOnPage);
  section.leave_out(lines, shown, "line", kOnPage);
}

}  // namespace

Section measured_section(const Report& report, const ShowOptions& options) {
  Section made{
      .id = "measured", .heading = "What was measured", .link = "measured", .bytes = 13'000};
  const auto measured = std::make_shared<const AllMeasured>(measured_of(report));
  if (measured->empty()) {
    made.add(Line{.as = Line::As::paragraph, .text = {"No benchmark was part of this launch."}},
             kOnPage);
    return made;
  }
  if (report.launch.is_virtual) {
    made.add(Line{.as = Line::As::banner,
                  .text = {"VIRTUAL: the numbers below are of a model on a CPU, not of a GPU"}});
  }
  add_plots(made, report, measured, options);
  add_medians(made, report, *measured);
  add_tables(made, report, *measured, options);
  return made;
}

}  // namespace tidemark
