// Turns the outcomes of one journal after the other into rows.
#include "reports/store/assemble/heard_results.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "reports/base/statistics.hpp"
#include "reports/schema/verdict_kinds.hpp"
#include "reports/store/assemble/shown_attempt.hpp"

namespace tidemark::reports {
namespace {

/// Mean of one sensor over the samples that have a reading.
template <class Sensor>
float mean_of(const OutcomeRecord& outcome, Sensor sensor) {
  std::vector<double> readings;
  for (const MetricRecord& metric : outcome.metrics) {
    for (const SampleRecord& sample : metric.samples) {
      readings.push_back(static_cast<double>(sample.telemetry.*sensor));
    }
  }
  return static_cast<float>(statistics_of(std::move(readings)).mean);
}

void fill_telemetry(ResultRow& row, const OutcomeRecord& outcome) {
  row.sm_mhz = mean_of(outcome, &TelemetryPoint::sm_mhz);
  row.memory_mhz = mean_of(outcome, &TelemetryPoint::memory_mhz);
  row.power_w = mean_of(outcome, &TelemetryPoint::power_w);
  row.temperature_c = mean_of(outcome, &TelemetryPoint::temperature_c);
  row.utilisation = mean_of(outcome, &TelemetryPoint::utilisation);
  for (const MetricRecord& metric : outcome.metrics) {
    for (const SampleRecord& sample : metric.samples) {
      row.throttle_reasons |= sample.telemetry.throttle_reasons;
    }
  }
}

std::string joined(const std::vector<std::string>& lines) {
  std::string made;
  for (const std::string& line : lines) made += (made.empty() ? "" : "\n") + line;
  return made;
}

HeardMetric metric_of(Texts& texts, const MetricRecord& from) {
  std::vector<double> values;
  for (const SampleRecord& sample : from.samples) values.push_back(sample.value);
  const Statistics statistics = statistics_of(std::move(values));
  HeardMetric made{.row = {.name = texts.number_of(from.name),
                           .unit = texts.number_of(from.unit),
                           .higher_is_better = from.higher_is_better,
                           .n = static_cast<std::uint32_t>(from.samples.size()),
                           .median = statistics.median,
                           .mad = statistics.mad,
                           .min = statistics.min,
                           .max = statistics.max,
                           .mean = statistics.mean},
                   .samples = {}};
  made.samples.reserve(from.samples.size());
  for (const SampleRecord& sample : from.samples) {
    const double at = sample.telemetry.at_unix_s;
    made.samples.push_back({.value = sample.value,
                            .seconds = sample.seconds,
                            .at_unix_s = at > 0 ? at : kNoNumber,
                            .sm_mhz = sample.telemetry.sm_mhz,
                            .memory_mhz = sample.telemetry.memory_mhz,
                            .power_w = sample.telemetry.power_w,
                            .temperature_c = sample.telemetry.temperature_c,
                            .utilisation = sample.telemetry.utilisation,
                            .throttle_reasons = sample.telemetry.throttle_reasons});
  }
  return made;
}

// A sum that wraps leaves fewer rows run than failed, and the reader refuses the report.
std::uint32_t saturated_sum(std::uint32_t a, std::uint32_t b) {
  return a + std::min(b, std::numeric_limits<std::uint32_t>::max() - a);
}

}  // namespace

std::uint32_t Texts::number_of(const std::string& text) {
  const auto [at, is_new] = numbers_.try_emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(&at->first);  // stays where it is however many come
  return at->second;
}

void HeardResults::take(const LaunchRecord& launch, HeardCases cases) {
  if (case_rows_.empty()) {
    for (const PlannedCase& planned : launch.cases) {
      case_rows_.emplace(planned.name, static_cast<std::uint32_t>(case_rows_.size()));
    }
    // One large block goes back to the system when it is free, many small ones stay in the heap.
    constexpr std::size_t kMostReserved = 1U << 22;  // whatever a launch record claims
    outcomes_.reserve(std::min(launch.cases.size() * launch.gpus, kMostReserved));
  }
  const auto pair_of = [&](const auto& record) {
    return case_rows_.at(record.case_name) * launch.gpus + record.gpu;
  };
  std::map<std::uint32_t, std::uint32_t> started;
  for (const StartRecord& start : cases.starts) {
    std::uint32_t& last = started[pair_of(start)];
    last = std::max(last, start.attempt);
  }
  std::map<std::uint32_t, std::vector<const OutcomeRecord*>> heard;
  for (OutcomeRecord& outcome : cases.outcomes) {
    const std::uint32_t pair = pair_of(outcome);
    heard[pair].push_back(&outcome);
    add(pair, outcome);
  }
  for (auto& [pair, attempts] : heard) {
    std::stable_sort(attempts.begin(), attempts.end(),
                     [](const auto* a, const auto* b) { return a->attempt < b->attempt; });
    count_sms(shown_attempt(attempts, [](const auto* outcome) { return outcome->verdict; }));
    // Nearly all that begin also end; only those that did not have to be kept.
    if (const auto at = started.find(pair);
        at != started.end() && at->second <= attempts.back()->attempt) {
      started.erase(at);
    }
  }
  for (const auto& [pair, attempt] : started) {
    std::uint32_t& last = unended_[pair];
    last = std::max(last, attempt);
  }
}

void HeardResults::add(std::uint32_t pair, OutcomeRecord& from) {
  HeardOutcome& made =
      outcomes_.emplace_back(HeardOutcome{.pair = pair,
                                          .row = {.attempt = from.attempt,
                                                  .verdict = from.verdict,
                                                  .rows_planned = from.rows_planned,
                                                  .rows_run = from.rows_run,
                                                  .rows_failed = from.rows_failed,
                                                  .start_unix_s = from.start_unix_s,
                                                  .seconds = from.seconds,
                                                  .cuda_error = from.cuda_error,
                                                  .signal = from.signal,
                                                  .exit_code = from.exit_code,
                                                  .seed = from.seed,
                                                  .descriptor_digest = from.descriptors,
                                                  .reason = texts_.number_of(from.reason),
                                                  .replay = texts_.number_of(from.replay),
                                                  .notes = texts_.number_of(joined(from.notes))},
                                          .metrics = {},
                                          .miscompares = std::move(from.miscompares)});
  fill_telemetry(made.row, from);
  for (const MetricRecord& metric : from.metrics) {
    made.metrics.push_back(metric_of(texts_, metric));
  }
}

void HeardResults::count_sms(const OutcomeRecord& shown) {
  const std::vector<std::uint32_t>& run = shown.sm_rows_run;
  const std::vector<std::uint32_t>& failed = shown.sm_rows_failed;
  // A number that no SM has must not cost the report: its reader would refuse it.
  const std::size_t sms = std::min<std::size_t>(run.size(), kMostSms);
  std::vector<SmRow>& rows = sms_[shown.gpu];
  if (rows.size() < sms) rows.resize(sms);
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    SmRow& row = rows[sm];
    row.gpu_id = shown.gpu;
    row.sm = sm;
    row.rows_run = saturated_sum(row.rows_run, run[sm]);
    if (sm < failed.size()) {
      row.rows_failed = saturated_sum(row.rows_failed, std::min(failed[sm], run[sm]));
    }
  }
}

void HeardResults::sort() {
  order_.resize(outcomes_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::stable_sort(order_.begin(), order_.end(), [this](std::uint32_t a, std::uint32_t b) {
    const HeardOutcome& left = outcomes_[a];
    const HeardOutcome& right = outcomes_[b];
    return std::pair(left.pair, left.row.attempt) < std::pair(right.pair, right.row.attempt);
  });
}

}  // namespace tidemark::reports
