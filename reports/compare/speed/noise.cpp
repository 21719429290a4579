// The estimator of compare, on one side alone.
#include "reports/compare/speed/noise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/compare/speed/series.hpp"

namespace tidemark::reports {
namespace {

constexpr std::string_view kPrefix = "noise.";
/// Launches in which the series has a number.
std::size_t launches_with(const Series& series) {
  std::size_t made = 0;
  for (std::size_t launch = 0; launch < series.goodness.launches && !series.gpus.empty();
       ++launch) {
    made += std::isnan(series.goodness.at(0, launch)) ? 0U : 1U;
  }
  return made;
}

std::string unknown_because(const Series& series, std::size_t launches) {
  if (!series.unfit.empty()) return series.unfit;
  if (series.gpus.empty()) return "no GPU has it in every launch that has it";
  if (launches >= kFewestCalibrating) return {};
  return fmt::format("only {} launches have it", launches);
}

/// By launch the mean over the GPUs.
void fill_row(LaunchMatrix& matrix, std::size_t row, const Series& series) {
  for (std::size_t launch = 0; launch < matrix.launches; ++launch) {
    double sum = 0;
    for (std::size_t gpu = 0; gpu < series.goodness.rows; ++gpu) {
      sum += series.goodness.at(gpu, launch);
    }
    matrix.at(row, launch) = sum / static_cast<double>(series.goodness.rows);
  }
}

}  // namespace

std::vector<MetricNoise> noise_between(const std::vector<LaunchFacts>& launches, PairBy by) {
  const Pairing pairing = pair_up(launches, {}, by);
  const std::vector<Series> all = series_of(pairing);
  std::vector<MetricNoise> made;
  std::vector<std::size_t> known;
  for (const Series& series : all) {
    const std::size_t with = launches_with(series);
    made.push_back({.of_case = pairing.cases[series.of_case],
                    .metric = series.metric,
                    .launches = with,
                    .gpus = series.gpus.size(),
                    .spread = kNoNumber,
                    .smallest = kNoNumber,
                    .why = unknown_because(series, with)});
    if (made.back().why.empty()) known.push_back(made.size() - 1);
  }
  LaunchMatrix matrix(known.size(), launches.size(), launches.size());
  for (std::size_t row = 0; row < known.size(); ++row) fill_row(matrix, row, all[known[row]]);
  const std::vector<double> spreads = spreads_of_launches(matrix);
  for (std::size_t row = 0; row < known.size(); ++row) {
    MetricNoise& one = made[known[row]];
    one.spread = spreads[row];
    one.smallest = smallest_effect(spreads[row], kSureLaunches, known.size());
  }
  return made;
}

void store_noise(Report& report, const std::vector<MetricNoise>& noise) {
  std::erase_if(report.provenance,
                [&](const auto& row) { return report.text(row.key).starts_with(kPrefix); });
  const auto index_of = [&report](const std::string& text) {
    const auto at = std::find(report.strings.begin(), report.strings.end(), text);
    if (at != report.strings.end()) return static_cast<std::uint32_t>(at - report.strings.begin());
    report.strings.push_back(text);
    return static_cast<std::uint32_t>(report.strings.size() - 1);
  };
  for (const MetricNoise& one : noise) {
    if (std::isnan(one.spread)) continue;
    const std::uint32_t key = index_of(fmt::format("{}{}/{}", kPrefix, one.of_case, one.metric));
    report.provenance.push_back({.key = key, .value = index_of(fmt::format("{}", one.spread))});
  }
}

std::map<std::string, double> stored_noise(const Report& report) {
  std::map<std::string, double> made;
  for (const ProvenanceRow& row : report.provenance) {
    const std::string_view key = report.text(row.key);
    if (!key.starts_with(kPrefix)) continue;
    const std::string text(report.text(row.value));
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    const bool whole = !text.empty() && *end == '\0';
    if (whole && value >= 0 && std::isfinite(value)) {
      made[std::string(key.substr(kPrefix.size()))] = value;
    }
  }
  return made;
}

}  // namespace tidemark::reports
