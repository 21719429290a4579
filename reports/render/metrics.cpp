// What was measured, a table for each benchmark: a line a GPU, or one over all of them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "reports/render/parts.hpp"
#include "reports/store/statistics.hpp"

namespace tidemark {
namespace {

constexpr std::size_t kFewGpus = 4;  // more are shown as one line

/// One metric of one case on all GPUs.
struct Measured {
  std::string_view name, unit;
  bool higher_is_better = true;
  std::vector<const MetricRow*> rows;  // in the order of GPUs
};

/// The metrics of each case, both in the order they stand in the report.
std::map<std::uint32_t, std::vector<Measured>> measured_of(const Report& report) {
  std::map<std::uint32_t, std::vector<Measured>> made;
  for (const MetricRow& row : report.metrics) {
    auto& of_case = made[report.results[row.result_id].case_id];
    const std::string_view name = report.text(row.name), unit = report.text(row.unit);
    auto at = std::find_if(of_case.begin(), of_case.end(), [&](const Measured& measured) {
      return measured.name == name && measured.unit == unit;
    });
    if (at == of_case.end()) {
      of_case.push_back(
          {.name = name, .unit = unit, .higher_is_better = row.higher_is_better != 0, .rows = {}});
      at = std::prev(of_case.end());
    }
    at->rows.push_back(&row);
  }
  for (auto& [case_id, all] : made) {
    for (Measured& measured : all) {
      std::stable_sort(measured.rows.begin(), measured.rows.end(), [&](auto* a, auto* b) {
        return report.results[a->result_id].gpu_id < report.results[b->result_id].gpu_id;
      });
    }
  }
  return made;
}

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

/// The rate a job sees that waits for its slowest rank: sample by sample the worst of all GPUs.
void put_slowest(Page& page, const Report& report, const Measured& measured) {
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
  const Statistics of = statistics_of(std::move(worst));
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
  for (const auto& [case_id, all] : measured) {
    put_case(page, report, report.cases[case_id], all, options);
  }
}

}  // namespace tidemark
