// Results of records: one row for every planned pair of case and GPU, over all its attempts.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "reports/schema/verdict_kinds.hpp"
#include "reports/store/assemble/assembly.hpp"
#include "reports/store/assemble/spoiled.hpp"
#include "reports/store/statistics.hpp"

namespace tidemark::reports {
namespace {

constexpr float kNotRead = std::numeric_limits<float>::quiet_NaN();
constexpr double kNever = std::numeric_limits<double>::quiet_NaN();

/// What was heard of one planned pair.
struct Attempts {
  std::vector<const OutcomeRecord*> outcomes;  // in the order they were made
  std::uint32_t last_started = 0;

  bool still_running() const {
    return last_started > (outcomes.empty() ? 0 : outcomes.back()->attempt);
  }
};

/// Verdicts that a later pass must not hide.
bool stays(Verdict verdict) { return is_failure(verdict) || is_lost(verdict); }

/// The attempt that a result shows: the last that lost the GPU, else the last bad one, else the
/// last.
const OutcomeRecord& shown_of(const Attempts& attempts) {
  const auto& all = attempts.outcomes;
  const auto lost = std::find_if(all.rbegin(), all.rend(),
                                 [](const auto* outcome) { return is_lost(outcome->verdict); });
  if (lost != all.rend()) return **lost;
  const auto bad = std::find_if(all.rbegin(), all.rend(),
                                [](const auto* outcome) { return stays(outcome->verdict); });
  return bad == all.rend() ? *all.back() : **bad;
}

struct Judged {
  Verdict verdict;
  std::string reason;
};

/// What a pass has become that the hardware speaks against.
std::optional<Judged> spoiled(const Attempts& attempts, const std::vector<EventRecord>& spoiling) {
  for (const OutcomeRecord* outcome : attempts.outcomes) {
    const EventRecord* const event = spoiled_by(spoiling, *outcome);
    if (event == nullptr || outcome->verdict != Verdict::pass) continue;
    return Judged{Verdict::fail,
                  fmt::format("passed, but its GPU said '{}' {:.1f} s after it "
                              "began: memory held wrong bytes, so it is no pass",
                              event->text, event->at_unix_s - outcome->start_unix_s)};
  }
  return std::nullopt;
}

Judged judged(const Attempts& attempts, const std::string& case_name) {
  const auto& all = attempts.outcomes;
  const OutcomeRecord& shown = shown_of(attempts);
  const auto bad = std::count_if(all.begin(), all.end(),
                                 [](const auto* outcome) { return stays(outcome->verdict); });
  const bool any_pass = std::any_of(all.begin(), all.end(), [](const auto* outcome) {
    return outcome->verdict == Verdict::pass;
  });
  if (bad == 0 && attempts.still_running()) {
    return {Verdict::not_run, fmt::format("was running when the launch ended: {} (attempt {})",
                                          case_name, attempts.last_started)};
  }
  std::string reason = shown.reason;
  if (reason.empty() && shown.verdict != Verdict::pass) reason = "no reason was given";
  if (bad > 0 && all.size() > 1) {
    reason = fmt::format("{} of {} attempts did not pass; attempt {}: {}", bad, all.size(),
                         shown.attempt, reason);
  }
  // Somebody may answer for a flaky case, and nobody for a lost GPU.
  const bool flaky = bad > 0 && any_pass && !is_lost(shown.verdict);
  return {flaky ? Verdict::flaky : shown.verdict, reason};
}

/// Why a pair of which nothing was heard did not run.
std::string reason_unheard(const HeardLaunch& all, std::uint32_t gpu, std::uint32_t rank,
                           const std::string& why_ended) {
  if (rank >= all.launch.ranks) return fmt::format("no rank reported GPU {}", gpu);
  const std::string reason = fmt::format(
      "rank {} {}", rank, all.ended[rank] ? "ended without running it" : "did not get to it");
  return why_ended.empty() ? reason : fmt::format("{}: {}", reason, why_ended);
}

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

void add_miscompares(Assembly& made, std::uint32_t result_id, const OutcomeRecord& outcome) {
  for (const MiscompareRecord& from : outcome.miscompares) {
    MiscompareRow row{.result_id = result_id,
                      .attempt = outcome.attempt,
                      .row = from.row,
                      .parameters = made.text(from.parameters),
                      .what = made.text(from.what),
                      .text = made.text(from.text),
                      .dimensions = 0,
                      .coordinate = {},
                      .first_offset = from.first_offset,
                      .wrong_bytes = from.wrong_bytes,
                      .expected = from.expected,
                      .actual = from.actual};
    const std::size_t dimensions = std::min(from.coordinate.size(), row.coordinate.size());
    row.dimensions = static_cast<std::uint32_t>(dimensions);
    std::copy_n(from.coordinate.begin(), dimensions, row.coordinate.begin());
    made.report.miscompares.push_back(row);
  }
}

void add_metric(Assembly& made, std::uint32_t result_id, const MetricRecord& from) {
  std::vector<SampleRow>& samples = made.report.samples;
  const auto metric_id = static_cast<std::uint32_t>(made.report.metrics.size());
  std::vector<double> values;
  for (const SampleRecord& sample : from.samples) values.push_back(sample.value);
  const Statistics statistics = statistics_of(std::move(values));
  made.report.metrics.push_back({.result_id = result_id,
                                 .name = made.plain(from.name),
                                 .unit = made.plain(from.unit),
                                 .higher_is_better = from.higher_is_better,
                                 .n = static_cast<std::uint32_t>(from.samples.size()),
                                 .median = statistics.median,
                                 .mad = statistics.mad,
                                 .min = statistics.min,
                                 .max = statistics.max,
                                 .mean = statistics.mean,
                                 .first_sample = samples.size()});
  for (const SampleRecord& sample : from.samples) {
    const double at = sample.telemetry.at_unix_s;
    samples.push_back({.metric_id = metric_id,
                       .value = sample.value,
                       .seconds = sample.seconds,
                       .at_unix_s = at > 0 ? at : kNever,
                       .sm_mhz = sample.telemetry.sm_mhz,
                       .memory_mhz = sample.telemetry.memory_mhz,
                       .power_w = sample.telemetry.power_w,
                       .temperature_c = sample.telemetry.temperature_c,
                       .utilisation = sample.telemetry.utilisation,
                       .throttle_reasons = sample.telemetry.throttle_reasons});
  }
}

std::string joined(const std::vector<std::string>& lines) {
  std::string made;
  for (const std::string& line : lines) made += (made.empty() ? "" : "\n") + line;
  return made;
}

void fill_from(Assembly& made, ResultRow& row, const Attempts& attempts) {
  const OutcomeRecord& shown = shown_of(attempts);
  row.attempt = shown.attempt;
  row.attempts = static_cast<std::uint32_t>(attempts.outcomes.size());
  row.rows_planned = shown.rows_planned;
  row.rows_run = shown.rows_run;
  row.rows_failed = shown.rows_failed;
  row.start_unix_s = shown.start_unix_s;
  row.seconds = shown.seconds;
  row.cuda_error = shown.cuda_error;
  row.signal = shown.signal;
  row.exit_code = shown.exit_code;
  row.seed = shown.seed;
  row.descriptor_digest = shown.descriptors;
  row.replay = made.text(shown.replay);
  row.notes = made.text(joined(shown.notes));
  fill_telemetry(row, shown);
  for (const OutcomeRecord* outcome : attempts.outcomes) {
    add_miscompares(made, row.result_id, *outcome);
  }
  for (const MetricRecord& metric : shown.metrics) add_metric(made, row.result_id, metric);
}

/// By GPU and SM, the results' shown attempts summed up.
using SmCounts = std::map<std::pair<std::uint32_t, std::uint32_t>, SmRow>;

// A sum that wraps leaves fewer rows run than failed, and the reader refuses the report.
std::uint32_t saturated_sum(std::uint32_t a, std::uint32_t b) {
  return a + std::min(b, std::numeric_limits<std::uint32_t>::max() - a);
}

void count_sms(SmCounts& counts, std::uint32_t gpu_id, const OutcomeRecord& shown) {
  const std::vector<std::uint32_t>& run = shown.sm_rows_run;
  const std::vector<std::uint32_t>& failed = shown.sm_rows_failed;
  // A number that no SM has must not cost the report: its reader would refuse it.
  for (std::uint32_t sm = 0; sm < std::min<std::size_t>(run.size(), kMostSms); ++sm) {
    if (run[sm] == 0) continue;
    SmRow& row = counts.try_emplace({gpu_id, sm}, SmRow{.gpu_id = gpu_id, .sm = sm}).first->second;
    row.rows_run = saturated_sum(row.rows_run, run[sm]);
    if (sm < failed.size()) {
      row.rows_failed = saturated_sum(row.rows_failed, std::min(failed[sm], run[sm]));
    }
  }
}

/// What was heard of each pair; pair = case row * GPUs + GPU.
std::vector<Attempts> attempts_of(const HeardLaunch& all) {
  std::unordered_map<std::string, std::size_t> case_row;
  for (const PlannedCase& planned : all.launch.cases) {
    case_row.emplace(planned.name, case_row.size());
  }
  const std::size_t gpus = all.launch.gpus;
  std::vector<Attempts> heard(case_row.size() * gpus);
  for (const OutcomeRecord& outcome : all.outcomes) {
    heard[case_row.at(outcome.case_name) * gpus + outcome.gpu].outcomes.push_back(&outcome);
  }
  for (const StartRecord& start : all.starts) {
    Attempts& attempts = heard[case_row.at(start.case_name) * gpus + start.gpu];
    attempts.last_started = std::max(attempts.last_started, start.attempt);
  }
  for (Attempts& attempts : heard) {
    std::stable_sort(attempts.outcomes.begin(), attempts.outcomes.end(),
                     [](const auto* a, const auto* b) { return a->attempt < b->attempt; });
  }
  return heard;
}

}  // namespace

void add_results(Assembly& made, const HeardLaunch& all, const std::string& why_ended) {
  const std::vector<Attempts> heard = attempts_of(all);
  const std::vector<EventRecord> spoiling = spoiling_events(all);
  const std::uint32_t gpus = all.launch.gpus;
  SmCounts sms;
  for (std::uint32_t pair = 0; pair < heard.size(); ++pair) {
    const Attempts& attempts = heard[pair];
    const std::string& case_name = all.launch.cases[pair / gpus].name;
    ResultRow row{.result_id = pair,
                  .case_id = pair / gpus,
                  .gpu_id = pair % gpus,
                  .start_unix_s = kNever,
                  .seconds = kNever,
                  .sm_mhz = kNotRead,
                  .memory_mhz = kNotRead,
                  .power_w = kNotRead,
                  .temperature_c = kNotRead,
                  .utilisation = kNotRead};
    Judged judgement{.verdict = Verdict::not_run, .reason = {}};
    if (!attempts.outcomes.empty()) {
      judgement = judged(attempts, case_name);
      if (judgement.verdict == Verdict::pass)
        judgement = spoiled(attempts, spoiling).value_or(judgement);
      fill_from(made, row, attempts);
      count_sms(sms, row.gpu_id, shown_of(attempts));
    } else if (attempts.still_running()) {
      judgement.reason = fmt::format("was running when the launch ended: {}", case_name);
    } else {
      judgement.reason =
          reason_unheard(all, row.gpu_id, made.report.gpus[row.gpu_id].rank, why_ended);
    }
    row.verdict = judgement.verdict;
    row.reason = made.text(judgement.reason);
    made.report.results.push_back(row);
  }
  for (const auto& [place, row] : sms) made.report.sms.push_back(row);
}

}  // namespace tidemark::reports
