// What was measured, a table for each benchmark: a line a GPU, or one over all of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "reports/render/measured.hpp"
#include "reports/render/parts.hpp"
#include "reports/store/statistics.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kFewGpus = 4;  // more are shown as one line

/// The cells of one line of the table.
struct Line {
  std::string metric, gpu, median, mad, n, min, max, unit, sm_mhz, power, temperature;
};

void put_line(Page& page, std::size_t name_columns, const Line& line) {
  // Never broken, however narrow the page: the columns would no longer stand below each other.
  page.text += printable(
      fmt::format("  {:<{}} {:>6} {:>9} {:>8} {:>4} {:>9}..{:<9} {:<8} {:>6} {:>5} {:>3}",
                  line.metric, name_columns, line.gpu, line.median, line.mad, line.n, line.min,
                  line.max, line.unit, line.sm_mhz, line.power, line.temperature));
  page.text += '\n';
}

std::string whole(float value) { return std::isnan(value) ? "-" : fmt::format("{:.0f}", value); }

Line line_of(const Report& report, const Measured& measured, const MetricRow& row) {
  const ResultRow& result = report.results[row.result_id];
  return {.metric = std::string(measured.name),
          .gpu = std::to_string(result.gpu_id),
          .median = short_number(row.median),
          .mad = short_number(row.mad),
          .n = std::to_string(row.n),
          .min = short_number(row.min),
          .max = short_number(row.max),
          .unit = std::string(measured.unit),
          .sm_mhz = whole(result.sm_mhz),
          .power = whole(result.power_w),
          .temperature = whole(result.temperature_c)};
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
  return {.metric = std::string(measured.name),
          .gpu = fmt::format("all {}", measured.rows.size()),
          .median = short_number(over([](const MetricRow& row) { return row.median; })),
          .mad = short_number(over([](const MetricRow& row) { return row.mad; })),
          .n = std::to_string((*low)->n),
          .min = short_number((*low)->median),
          .max = short_number((*high)->median),
          .unit = std::string(measured.unit),
          .sm_mhz = whole(static_cast<float>(over(sensor(&ResultRow::sm_mhz)))),
          .power = whole(static_cast<float>(over(sensor(&ResultRow::power_w)))),
          .temperature = whole(static_cast<float>(over(sensor(&ResultRow::temperature_c))))};
}

void put_slowest(Page& page, const Report& report, const Measured& measured) {
  const Statistics of = slowest_of(report, measured);
  put(page,
      fmt::format("  slowest rank, sample by sample over {} GPUs: {} {} {} (mad {}, n {}, {}..{})",
                  measured.rows.size(), measured.name, short_number(of.median), measured.unit,
                  short_number(of.mad), of.finite, short_number(of.min), short_number(of.max)),
      4);
}

void put_case(Page& page, const Report& report, const CaseRow& of, const std::vector<Measured>& all,
              const ShowOptions& options) {
  std::size_t name_columns = 6;
  for (const Measured& measured : all) name_columns = std::max(name_columns, measured.name.size());
  put(page, of.name.view());
  put_line(page, name_columns,
           {.metric = "metric",
            .gpu = "GPU",
            .median = "median",
            .mad = "mad",
            .n = "n",
            .min = "min",
            .max = "max",
            .unit = "unit",
            .sm_mhz = "SM MHz",
            .power = "W",
            .temperature = "C"});
  for (const Measured& measured : all) {
    if (measured.rows.size() <= kFewGpus || options.all) {
      for (const MetricRow* row : measured.rows) {
        put_line(page, name_columns, line_of(report, measured, *row));
      }
    } else {
      put_line(page, name_columns, line_over(report, measured));
    }
    if (report.text(of.scope) == "all_gpus" && measured.rows.size() > 1) {
      put_slowest(page, report, measured);
    }
  }
  for (const Measured& measured : all) {
    for (const MetricRow* row : measured.rows) {
      const ResultRow& result = report.results[row->result_id];
      if (&measured == &all.front() && result.verdict != Verdict::pass) {
        put(page, fmt::format("  not a pass on GPU {} ({}): its numbers do not count",
                              result.gpu_id, name_of(result.verdict)));
      }
    }
  }
}

}  // namespace

void put_metrics(Page& page, const Report& report, const ShowOptions& options) {
  const auto measured = measured_of(report);
  if (measured.empty()) return;
  put(page, "");
  if (report.launch.is_virtual) {
    put(page, "VIRTUAL: the numbers below are of a model on a CPU, not of a GPU");
  }
  const bool many = report.gpus.size() > kFewGpus && !options.all;
  if (many) put(page, "over all GPUs: medians, and min..max of the GPUs' own medians");
  constexpr std::size_t kCases = 20;
  std::size_t shown = 0;
  for (const auto& [case_id, all] : measured) {
    if (!options.all && shown == kCases) break;
    ++shown;
    put_case(page, report, report.cases[case_id], all, options);
  }
  put_left_out(page, measured.size() - shown, "measured case");
}

}  // namespace tidemark
