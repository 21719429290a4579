// Results of records: one row for every planned pair of case and GPU, over all its attempts.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <vector>

#include "reports/base/statistics.hpp"
#include "reports/store/assemble/assembly.hpp"
#include "reports/store/assemble/shown_attempt.hpp"
#include "reports/store/assemble/spoiled.hpp"

namespace tidemark::reports {
namespace {

constexpr float kNotRead = std::numeric_limits<float>::quiet_NaN();
HeardOutcome& shown_of(const Attempts& attempts) {
  return shown_attempt(attempts.outcomes, [](const auto* outcome) { return outcome->row.verdict; });
}

struct Judged {
  Verdict verdict;
  std::string reason;
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
  const auto bad = std::count_if(all.begin(), all.end(),
                                 [](const auto* outcome) { return stays(outcome->row.verdict); });
  const bool any_pass = std::any_of(all.begin(), all.end(), [](const auto* outcome) {
    return outcome->row.verdict == Verdict::pass;
  });
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
    MiscompareRow row{.result_id = result_id,
                      .attempt = outcome.row.attempt,
                      .row = from.row,
                      .parameters = made.index_of(from.parameters),
                      .what = made.index_of(from.what),
                      .text = made.index_of(from.text),
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
    Judged judgement{.verdict = Verdict::not_run, .reason = {}};
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
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(made.report.sms),
                 [](const SmRow& row) { return row.rows_run > 0; });
  }
}

}  // namespace tidemark::reports
