// What journals hold, result by result, on its way into the tables of a report.
#include "reports/store/assemble/assembly.hpp"

#include <fmt/ranges.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "reports/base/statistics.hpp"
#include "reports/schema/verdict.hpp"

namespace tidemark {

// Turns the outcomes of one journal after the other into rows.

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
                           .mean = statistics.mean}};
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
      families_.emplace(family_of(planned.name));
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
    std::ranges::stable_sort(attempts, {}, &OutcomeRecord::attempt);
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
  HeardOutcome& made = outcomes_.emplace_back();
  made.pair = pair;
  RowFields columns(made.row, [this](const std::string& text) { return texts_.number_of(text); });
  fields(columns, std::as_const(from));
  made.row.start_unix_s = from.start_unix_s;
  made.row.descriptor_digest = from.descriptors;
  made.row.notes = texts_.number_of(fmt::format("{}", fmt::join(from.notes, "\n")));
  made.miscompares = std::move(from.miscompares);
  made.answers = std::move(from.answers);
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
  const auto family = std::distance(families_.begin(), families_.find(family_of(shown.case_name)));
  for (std::uint32_t sm = 0; sm < sms; ++sm) {
    SmRow& row = rows[sm];
    row.gpu_id = shown.gpu;
    row.sm = sm;
    row.rows_run = saturated_sum(row.rows_run, run[sm]);
    if (run[sm] > 0 && family < 64) row.families |= std::uint64_t{1} << family;
    if (sm < failed.size()) {
      row.rows_failed = saturated_sum(row.rows_failed, std::min(failed[sm], run[sm]));
    }
    if (sm < shown.sm_latency.size() && shown.sm_latency[sm] > 0)
      row.latency = shown.sm_latency[sm];
    if (sm < shown.sm_rate.size() && shown.sm_rate[sm] > 0) row.rate = shown.sm_rate[sm];
  }
}

void HeardResults::sort() {
  order_.resize(outcomes_.size());
  std::iota(order_.begin(), order_.end(), 0U);
  std::ranges::stable_sort(order_, {}, [this](std::uint32_t i) {
    return std::pair(outcomes_[i].pair, outcomes_[i].row.attempt);
  });
}

// Waivers of a launch, applied to its results. Here and not where results are heard: what a worker
// said stays in the journals as it was, and a report made anew of them comes to the same.

namespace {

constexpr std::string_view kWaiverKey = "waiver.";

std::vector<GpuNames> names_of(const HeardLaunch& all) {
  std::map<std::uint32_t, std::string_view> hosts;
  for (const NodeRecord& node : all.nodes) hosts.emplace(node.first_rank, node.hostname);
  std::vector<GpuNames> made(all.launch.gpus);
  for (const GpuRecord& gpu : all.gpus) {
    const auto host = hosts.find(gpu.rank);
    made[gpu.gpu_id] = {.uuid = gpu.uuid,
                        .serial = gpu.serial,
                        .host = host == hosts.end() ? std::string_view() : host->second,
                        .drivers = {gpu.driver}};
  }
  return made;
}

Heard heard_of(Verdict verdict) {
  if (is_waivable(verdict)) return Heard::failed;
  return verdict == Verdict::pass ? Heard::passed : Heard::nothing;
}

void apply(Assembly& made, ResultRow& result, const Waiver& waiver, bool strict) {
  if (result.verdict != Verdict::pass) {
    const std::string reason(made.report.text(result.reason));
    result.reason = made.index_of(waived_reason(waiver, result.verdict, reason));
    result.verdict = Verdict::waived;
    return;
  }
  const std::string note = stale_note(waiver);
  const std::string notes(made.report.text(result.notes));
  result.notes = made.index_of(notes.empty() ? note : notes + "\n" + note);
  if (!strict) return;
  result.verdict = Verdict::unexpected_pass;
  result.reason = made.index_of(note);
}

}  // namespace

std::vector<WaiverLedger::Line> waiver_lines(const Report& report) {
  std::vector<WaiverLedger::Line> made;
  for (const ProvenanceRow& row : report.provenance) {
    if (!report.text(row.key).starts_with(kWaiverKey)) continue;
    made.push_back(WaiverLedger::of(report.text(row.value)));
  }
  return made;
}

void apply_waivers(Assembly& made, const HeardLaunch& all) {
  const std::vector<Waiver>& waivers = all.policy.waivers;
  if (waivers.empty()) return;
  // The moment the launch began: its journals make the same report on any later day.
  WaiverLedger ledger(waivers, all.launch.created_unix_s);
  const std::vector<GpuNames> gpus = names_of(all);
  for (ResultRow& result : made.report.results) {
    const std::string_view case_name = all.launch.cases[result.case_id].name;
    const auto waiver =
        ledger.hear(Waives::failure, case_name, gpus[result.gpu_id], heard_of(result.verdict));
    if (waiver) apply(made, result, waivers[*waiver], all.policy.strict);
  }
  std::size_t number = 0;
  for (const WaiverLedger::Line& line : ledger.lines({Waives::failure})) {
    made.report.provenance.push_back(
        {.key = made.index_of(fmt::format("{}{}", kWaiverKey, number++)),
         .value = made.index_of(line.text)});
  }
}

// Results of records: one row for every planned pair of case and GPU, over all its attempts.

namespace {

constexpr float kNotRead = std::numeric_limits<float>::quiet_NaN();
HeardOutcome& shown_of(const Attempts& attempts) {
  return shown_attempt(attempts.outcomes, [](const auto* outcome) { return outcome->row.verdict; });
}

struct Judged {
  Verdict verdict;
  std::string reason = {};
};

/// What a pass has become that the hardware speaks against.
std::optional<Judged> spoiled(const Attempts& attempts, std::uint32_t gpu,
                              const std::vector<EventRecord>& spoiling) {
  for (const HeardOutcome* outcome : attempts.outcomes) {
    const ResultRow& row = outcome->row;
    const EventRecord* const event = spoiled_by(spoiling, gpu, row.start_unix_s, row.seconds);
    if (event == nullptr || row.verdict != Verdict::pass) continue;
    return Judged{Verdict::fail, fmt::format("passed, but its GPU said '{}' {:.1f} s after it "
                                             "began: memory held wrong bytes, so it is no pass",
                                             event->text, event->at_unix_s - row.start_unix_s)};
  }
  return std::nullopt;
}

Judged judged(const Attempts& attempts, const Texts& texts, const std::string& case_name) {
  const auto& all = attempts.outcomes;
  const ResultRow& shown = shown_of(attempts).row;
  const auto bad =
      std::ranges::count_if(all, [](const auto* outcome) { return stays(outcome->row.verdict); });
  const bool any_pass = std::ranges::any_of(
      all, [](const auto* outcome) { return outcome->row.verdict == Verdict::pass; });
  if (bad == 0 && attempts.still_running()) {
    return {Verdict::not_run, fmt::format("was running when the launch ended: {} (attempt {})",
                                          case_name, attempts.last_started)};
  }
  std::string reason = texts.at(shown.reason);
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

void add_miscompares(Assembly& made, std::uint32_t result_id, const HeardOutcome& outcome) {
  for (const MiscompareRecord& from : outcome.miscompares) {
    MiscompareRow& row = made.report.miscompares.emplace_back(
        MiscompareRow{.result_id = result_id, .attempt = outcome.row.attempt, .dimensions = 5});
    made.fill(row, from);
  }
}

void add_metric(Assembly& made, const Texts& texts, std::uint32_t result_id, HeardMetric& from) {
  std::vector<SampleRow>& samples = made.report.samples;
  const auto metric_id = static_cast<std::uint32_t>(made.report.metrics.size());
  MetricRow& row = made.report.metrics.emplace_back(from.row);
  row.result_id = result_id;
  row.name = made.index_of(texts.at(from.row.name));
  row.unit = made.index_of(texts.at(from.row.unit));
  row.first_sample = samples.size();
  for (SampleRow& sample : from.samples) {
    sample.metric_id = metric_id;
    samples.push_back(sample);
  }
  std::vector<SampleRow>().swap(from.samples);
}

ResultRow result_of(Assembly& made, const Texts& texts, std::uint32_t result_id,
                    const Attempts& attempts) {
  HeardOutcome& shown = shown_of(attempts);
  ResultRow row = shown.row;
  row.result_id = result_id;
  row.attempts = static_cast<std::uint32_t>(attempts.outcomes.size());
  row.replay = made.index_of(texts.at(shown.row.replay));
  row.notes = made.index_of(texts.at(shown.row.notes));
  for (const HeardOutcome* outcome : attempts.outcomes) add_miscompares(made, result_id, *outcome);
  for (const AnswerRecord& answer : shown.answers)
    made.fill(made.report.answers.emplace_back(AnswerRow{.result_id = result_id}), answer);
  for (HeardMetric& metric : shown.metrics) add_metric(made, texts, result_id, metric);
  return row;
}

}  // namespace

void add_results(Assembly& made, const HeardLaunch& all, HeardResults& heard,
                 const std::string& why_ended) {
  const std::vector<EventRecord> spoiling = spoiling_events(all);
  const std::uint32_t gpus = all.launch.gpus;
  made.report.results.reserve(all.launch.cases.size() * gpus);
  heard.each_pair(all.launch, [&](std::uint32_t pair, const Attempts& attempts) {
    const std::string& case_name = all.launch.cases[pair / gpus].name;
    ResultRow row{.result_id = pair,
                  .start_unix_s = kNoNumber,
                  .seconds = kNoNumber,
                  .sm_mhz = kNotRead,
                  .memory_mhz = kNotRead,
                  .power_w = kNotRead,
                  .temperature_c = kNotRead,
                  .utilisation = kNotRead};
    Judged judgement{.verdict = Verdict::not_run};
    if (!attempts.outcomes.empty()) {
      judgement = judged(attempts, heard.texts(), case_name);
      if (judgement.verdict == Verdict::pass)
        judgement = spoiled(attempts, pair % gpus, spoiling).value_or(judgement);
      row = result_of(made, heard.texts(), pair, attempts);
    } else if (attempts.still_running()) {
      judgement.reason = fmt::format("was running when the launch ended: {}", case_name);
    } else {
      judgement.reason =
          reason_unheard(all, pair % gpus, made.report.gpus[pair % gpus].rank, why_ended);
    }
    row.case_id = pair / gpus;
    row.gpu_id = pair % gpus;
    row.verdict = judgement.verdict;
    row.reason = made.index_of(judgement.reason);
    made.report.results.push_back(row);
  });
  for (const auto& [gpu, rows] : heard.sms()) {
    std::ranges::copy_if(rows, std::back_inserter(made.report.sms),
                         [](const SmRow& row) { return row.rows_run > 0; });
  }
}

}  // namespace tidemark
