// Puts the metrics of all GPUs together.
#include "reports/document/report/measured.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tidemark::reports {

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

std::vector<const MetricRow*> counted_of(const Report& report, const Measured& measured) {
  std::vector<const MetricRow*> made;
  for (const MetricRow* row : measured.rows) {
    if (report.results[row->result_id].verdict == Verdict::pass) made.push_back(row);
  }
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

}  // namespace tidemark::reports
