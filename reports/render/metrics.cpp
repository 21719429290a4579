// What was measured, a table for each benchmark: a line a GPU, or one over all of them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "reports/render/measured.hpp"
#include "reports/render/parts.hpp"
#include "reports/store/ranges.hpp"
#include "reports/store/statistics.hpp"

namespace tidemark::reports {
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
struct Line {
  std::string metric, gpu, median, mad, n, range, unit, sm_mhz, power, temperature;
  double value = 0;                       // the median
  std::string gain = {}, published = {};  // of tables that have something in them
};

constexpr std::array kColumns{&Line::metric,    &Line::gpu,    &Line::median, &Line::mad,
                              &Line::n,         &Line::range,  &Line::unit,   &Line::gain,
                              &Line::published, &Line::sm_mhz, &Line::power,  &Line::temperature};

/// 0 for a column that this table has not.
std::vector<std::size_t> widths_of(const Line& head, const std::vector<std::vector<Line>>& lines) {
  std::vector<std::size_t> widths(kColumns.size(), 0);
  const auto widen = [&](const Line& line) {
    for (std::size_t c = 0; c < kColumns.size(); ++c)
      widths[c] = std::max(widths[c], (line.*kColumns[c]).size());
  };
  widen(head);
  for (const auto& some : lines) std::for_each(some.begin(), some.end(), widen);
  return widths;
}

constexpr std::size_t kSensors = 3;  // the last columns, which a narrow page has no room for

/// How a table stands on a page: two spaces between columns, or one, and then without sensors.
struct Layout {
  std::size_t gap = 2, columns = kColumns.size();
};

Layout layout_of(const Page& page, const std::vector<std::size_t>& widths) {
  std::size_t wide = 0, columns = 0;
  for (const std::size_t width : widths) {
    wide += width;
    if (width > 0) ++columns;
  }
  if (wide + 2 * columns <= page.columns) return {};
  if (wide + 1 + columns <= page.columns) return {.gap = 1};
  return {.gap = 1, .columns = kColumns.size() - kSensors};
}

void put_line(Page& page, const std::vector<std::size_t>& widths, const Line& line) {
  // Never broken, however narrow the page: the columns would no longer stand below each other.
  const Layout layout = layout_of(page, widths);
  const std::string gap(layout.gap, ' ');
  std::string text = " ";
  for (std::size_t c = 0; c < layout.columns; ++c) {
    if (widths[c] == 0) continue;
    const bool words = kColumns[c] == &Line::metric || kColumns[c] == &Line::unit;
    const std::string& cell = line.*kColumns[c];
    text += c == 0 ? " " : gap;
    text += words ? fmt::format("{:<{}}", cell, widths[c]) : fmt::format("{:>{}}", cell, widths[c]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  page.text += printable(text) + '\n';
}

std::string range_of(double low, double high) {
  return short_number(low) + ".." + short_number(high);
}

std::string whole(float value) { return std::isnan(value) ? "-" : fmt::format("{:.0f}", value); }

Line line_of(const Report& report, const Measured& measured, const MetricRow& row) {
  const ResultRow& result = report.results[row.result_id];
  return {.metric = std::string(measured.name),
          .gpu = std::to_string(result.gpu_id),
          .median = short_number(row.median),
          .mad = short_spread(row.mad),
          .n = std::to_string(row.n),
          .range = range_of(row.min, row.max),
          .unit = std::string(measured.unit),
          .sm_mhz = whole(result.sm_mhz),
          .power = whole(result.power_w),
          .temperature = whole(result.temperature_c),
          .value = row.median};
}

template <class Of>
double median_over(const std::vector<const MetricRow*>& rows, Of of) {
  std::vector<double> values;
  values.reserve(rows.size());
  for (const MetricRow* row : rows) values.push_back(static_cast<double>(of(*row)));
  return statistics_of(std::move(values)).median;
}

/// One line for many GPUs: medians over them, and the least and greatest of their own medians.
Line line_over(const Report& report, const Measured& measured) {
  const auto sensor = [&report](float ResultRow::*member) {
    return
        [&report, member](const MetricRow& row) { return report.results[row.result_id].*member; };
  };
  const auto [low, high] =
      std::minmax_element(measured.rows.begin(), measured.rows.end(),
                          [](const auto* a, const auto* b) { return a->median < b->median; });
  const auto over = [&](auto of) { return median_over(measured.rows, of); };
  const double median = over([](const MetricRow& row) { return row.median; });
  return {.metric = std::string(measured.name),
          .gpu = fmt::format("all {}", measured.rows.size()),
          .median = short_number(median),
          .mad = short_spread(over([](const MetricRow& row) { return row.mad; })),
          .n = std::to_string((*low)->n),
          .range = range_of((*low)->median, (*high)->median),
          .unit = std::string(measured.unit),
          .sm_mhz = whole(static_cast<float>(over(sensor(&ResultRow::sm_mhz)))),
          .power = whole(static_cast<float>(over(sensor(&ResultRow::power_w)))),
          .temperature = whole(static_cast<float>(over(sensor(&ResultRow::temperature_c)))),
          .value = median};
}

void put_slowest(Page& page, const Report& report, const Measured& measured) {
  const Statistics of = slowest_of(report, measured);
  put(page,
      fmt::format("  slowest rank, sample by sample over {} GPUs: {} {} {} (mad {}, n {}, {}..{})",
                  measured.rows.size(), measured.name, short_number(of.median), measured.unit,
                  short_spread(of.mad), of.finite, short_number(of.min), short_number(of.max)),
      4);
}

std::vector<Line> lines_of(const Report& report, const Measured& measured, bool each) {
  std::vector<Line> lines;
  if (each) {
    for (const MetricRow* row : measured.rows) lines.push_back(line_of(report, measured, *row));
  } else {
    lines.push_back(line_over(report, measured));
  }
  return lines;
}

/// `line`'s median against that of the line for as many GPUs, or the same one, in `below`; empty
/// where that is no number.
std::string gain_of(const Line& line, const std::vector<Line>& below, bool higher_is_better) {
  const auto same = std::find_if(below.begin(), below.end(),
                                 [&](const Line& other) { return other.gpu == line.gpu; });
  if (same == below.end()) return {};
  const double gain = higher_is_better ? line.value / same->value : same->value / line.value;
  return std::isfinite(gain) ? fmt::format("{:.2f}x", gain) : std::string();
}

/// Fills in what `all`, whose lines these are, are printed beside. Returns who published it.
std::set<std::string> put_beside(std::vector<std::vector<Line>>& lines,
                                 const std::vector<Measured>& all, std::string_view name,
                                 const ShowOptions& options) {
  std::set<std::string> published_by;
  if (!options.beside) return published_by;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const PrintedBeside beside = options.beside(name, all[i].name);
    const auto below = std::find_if(all.begin(), all.end(), [&](const Measured& other) {
      return !beside.over.empty() && other.name == beside.over && other.unit == all[i].unit;
    });
    if (beside.published != 0) published_by.insert(beside.published_by);
    for (Line& line : lines[i]) {
      if (below != all.end())
        line.gain = gain_of(line, lines[static_cast<std::size_t>(below - all.begin())],
                            all[i].higher_is_better);
      if (beside.published != 0) line.published = short_number(beside.published);
    }
  }
  return published_by;
}

/// Heads a column that any line has something in, and fills the others' cells of it.
void head_column(Line& head, std::vector<std::vector<Line>>& lines, std::string Line::*column,
                 const char* heading) {
  bool any = false;
  for (const auto& some : lines)
    for (const Line& line : some) any = any || !(line.*column).empty();
  if (!any) return;
  head.*column = heading;
  for (auto& some : lines)
    for (Line& line : some)
      if ((line.*column).empty()) line.*column = "-";
}

/// Whose numbers do not count: a line a verdict.
void put_not_passed(Page& page, const Report& report, const Measured& measured) {
  std::map<Verdict, std::vector<std::uint32_t>> gpus;
  for (const MetricRow* row : measured.rows) {
    const ResultRow& result = report.results[row->result_id];
    if (result.verdict != Verdict::pass) gpus[result.verdict].push_back(result.gpu_id);
  }
  for (auto& [verdict, of_verdict] : gpus) {
    std::sort(of_verdict.begin(), of_verdict.end());
    const bool one = of_verdict.size() == 1;
    put(page,
        fmt::format("  not a pass on GPU{} {} ({}): {} numbers do not count", one ? "" : "s",
                    ranges(of_verdict), name_of(verdict), one ? "its" : "their"),
        4);
  }
}

void put_case(Page& page, const Report& report, const CaseRow& of, const std::vector<Measured>& all,
              const ShowOptions& options) {
  Line head{.metric = "metric",
            .gpu = "GPU",
            .median = "median",
            .mad = "mad",
            .n = "n",
            .range = "min..max",
            .unit = "unit",
            .sm_mhz = "SM MHz",
            .power = "W",
            .temperature = "C",
            .value = 0};
  const bool each = each_gpu(all, options);
  std::vector<std::vector<Line>> lines;  // of each metric
  lines.reserve(all.size());
  for (const Measured& measured : all) lines.push_back(lines_of(report, measured, each));
  const std::set<std::string> published_by = put_beside(lines, all, of.name.view(), options);
  head_column(head, lines, &Line::gain, "gain");
  head_column(head, lines, &Line::published, "published");
  const std::vector<std::size_t> widths = widths_of(head, lines);
  put(page, of.name.view());
  put_line(page, widths, head);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Line& line : lines[i]) put_line(page, widths, line);
    if (report.text(of.scope) == "all_gpus" && all[i].rows.size() > 1)
      put_slowest(page, report, all[i]);
  }
  for (const std::string& who : published_by) put(page, "  published: " + who, 4);
  if (layout_of(page, widths).columns < kColumns.size())
    put(page, "  (no room for SM MHz, W and C: --html and --csv have them)");
  put_not_passed(page, report, all.front());
}

}  // namespace

void put_metrics(Page& page, const Report& report, const ShowOptions& options) {
  const auto measured = measured_of(report);
  if (measured.empty()) return;
  put(page, "");
  if (report.launch.is_virtual) {
    put(page, "VIRTUAL: the numbers below are of a model on a CPU, not of a GPU");
  }
  const bool together = std::any_of(measured.begin(), measured.end(), [&](const auto& of_case) {
    return !each_gpu(of_case.second, options);
  });
  if (together)
    put(page, "where GPUs share a line: the median over them, and min..max of their own medians");
  constexpr std::size_t kCases = 20;
  std::size_t shown = 0;
  for (const auto& [case_id, all] : measured) {
    if (!options.all && shown == kCases) break;
    ++shown;
    put_case(page, report, report.cases[case_id], all, options);
  }
  put_left_out(page, measured.size() - shown, "measured case");
}

}  // namespace tidemark::reports
