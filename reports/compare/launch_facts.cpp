// From the rows of a report to columns.
#include "reports/compare/launch_facts.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>

#include "reports/journal/hardware_events.hpp"
#include "reports/schema/verdict.hpp"
#include "reports/schema/waiver.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

/// A fact of a GPU or of its machine, and where it stands.
struct Fact {
  const Column* column = nullptr;
  const Table* table = nullptr;
  bool of_node = false;
};

/// Role by role, those of `gpus`, then those of `nodes`.
std::vector<Fact> facts_with(std::initializer_list<FactRole> roles) {
  std::vector<Fact> made;
  for (const FactRole role : roles) {
    for (const Table* table : {&table_of<GpuRow>(), &table_of<NodeRow>()}) {
      for (const Column& column : table->columns)
        if (column.role == role) made.push_back({&column, table, table == &table_of<NodeRow>()});
    }
  }
  return made;
}

const std::vector<Fact>& setup_facts() {
  static const auto all = facts_with({FactRole::subject, FactRole::setup});
  return all;
}

const std::vector<Fact>& identity_facts() {
  static const auto all = facts_with({FactRole::identity});
  return all;
}

std::vector<std::string> names_of(const std::vector<Fact>& facts,
                                  std::initializer_list<const char*> more = {}) {
  std::vector<std::string> made;
  made.reserve(facts.size() + more.size());
  for (const Fact& fact : facts) made.emplace_back(fact.column->fact);
  made.insert(made.end(), more.begin(), more.end());
  return made;
}

std::string text_of(const Column& column, const std::byte* row, const Report& report) {
  if (column.refers == kStringBytes) return std::string(report.text(index_in(column, row)));
  const double number = number_in(column, row);
  const double unknown = column.type == ColumnType::u32 ? 0x1p32 - 1 : 0x1p64;  // kUnknownCount
  if (std::isnan(number) || number == unknown) return {};
  if (column.type == ColumnType::i32) return number == 0 ? "off" : "on";
  return fmt::format("{:.15g}{}{}", number, column.unit.empty() ? "" : " ", column.unit);
}

/// Empty where it is not known.
std::string value_of(const Fact& fact, const GpuRow& gpu, const Report& report) {
  const Column& column = *fact.column;
  if (column.by_nvml && gpu.nvml == 0) return {};  // holds what was never read
  if (fact.of_node && gpu.node_id == kNoRow) return {};
  const auto* const row = fact.of_node
                              ? reinterpret_cast<const std::byte*>(&report.nodes[gpu.node_id])
                              : reinterpret_cast<const std::byte*>(&gpu);
  const bool blank = std::memcmp(row + column.offset, fact.table->blank.data() + column.offset,
                                 bytes_of(column)) == 0;
  return blank && !column.default_is_known ? "" : text_of(column, row, report);
}

std::vector<std::string> values_of(const std::vector<Fact>& facts, const GpuRow& gpu,
                                   const Report& report) {
  std::vector<std::string> made;
  made.reserve(facts.size() + 2);
  for (const Fact& fact : facts) made.push_back(value_of(fact, gpu, report));
  return made;
}

/// The arguments without the program, and without those that say only where the report goes, how it
/// is shown, or what stands in the report already.
std::string arguments_of(const Report& report) {
  static const std::set<std::string_view> with_value = {"--out",    "--seed",       "--level",
                                                        "--device", "--policy",     "--launches",
                                                        "--slow",   "--gemm-table", "--fail-on"};
  static const std::set<std::string_view> alone = {"--json", "--anonymize", "--anonymise",
                                                   "--strict", "--calibrate"};
  std::string made;
  bool skip_value = false, slowing = false;
  for (const ProvenanceRow& row : report.provenance) {
    const std::string_view key = report.text(row.key), value = report.text(row.value);
    if (!key.starts_with("argument.") || key == "argument.0") continue;
    const std::string_view name = value.substr(0, value.find('='));
    const bool valued = with_value.contains(name);
    // `--slow` takes several: gemm.local.speed=3% gemm.ladder=4%.
    const bool share = slowing && !value.starts_with("--") && name.size() < value.size();
    slowing = name == "--slow" || share;
    if (!skip_value && !share && !valued && !alone.contains(name)) {
      made += fmt::format("{}{}", made.empty() ? "" : " ", value);
    }
    skip_value = !skip_value && valued && name.size() == value.size();
  }
  return made;
}

std::vector<Factor> factors_of(const Report& report) {
  std::vector<Factor> made = {{"level", report.launch.level},
                              {"seed", fmt::format("{:#x}", report.launch.seed)},
                              {"ranks", fmt::format("{}", report.launch.ranks_expected)},
                              {"tool_version", report.launch.tool_version}};
  for (const char* key : {"git_hash", "kernels_tree", "suite_tree", "nvcc", "compiler"}) {
    made.push_back({key, std::string(provenance_of(report, key))});
  }
  made.push_back({"arguments", arguments_of(report)});
  for (const ProvenanceRow& row : report.provenance) {
    const std::string_view key = report.text(row.key);
    // It says which GPUs there are, and those are compared themselves.
    if (!key.starts_with("environment.") || key == "environment.CUDA_VISIBLE_DEVICES") continue;
    made.push_back({std::string(key), std::string(report.text(row.value))});
  }
  // Its name says nothing that the hash of what it decides does not.
  if (const std::string_view table = provenance_of(report, "gemm_table.hash"); !table.empty()) {
    made.push_back({"gemm_table", std::string(table)});
  }
  for (const auto& [of_case, share] : slowed_cases(report)) {
    made.push_back({"slow." + of_case, share});
  }
  return made;
}

void add_gpus(LaunchFacts& made, const Report& report) {
  std::set<std::string> seen;
  for (const GpuRow& gpu : report.gpus) {
    FactsOfGpu facts{.uuid = gpu.reported != 0 ? std::string(gpu.uuid.view()) : "",
                     .serial = std::string(report.text(gpu.serial)),
                     .number = gpu.gpu_id,
                     .values = values_of(setup_facts(), gpu, report),
                     .identity = values_of(identity_facts(), gpu, report)};
    if (gpu.node_id != kNoRow) {
      facts.node = report.text(report.nodes[gpu.node_id].hostname);
      facts.boot = report.text(report.nodes[gpu.node_id].boot_id);
    }
    if (!facts.uuid.empty() && !seen.insert(facts.uuid).second) {
      throw ReportError(
          fmt::format("{}: lists {} twice; leave this report out", made.path, facts.uuid));
    }
    made.gpus.push_back(std::move(facts));
  }
}

/// The mean of what was read; NaN of nothing.
struct Mean {
  double sum = 0, n = 0;

  void add(double value) {
    if (!std::isfinite(value)) return;
    sum += value;
    ++n;
  }
  double value() const { return sum / n; }
};

/// What was seen of one GPU beside its results and samples.
struct Seen {
  std::uint64_t throttling = 0;
  double hottest = std::numeric_limits<double>::quiet_NaN();
  Mean sm_mhz, memory_mhz, power_w, utilisation, throttled_samples;
  std::set<std::string> events;
};

/// Throttling, heat, clocks, Xid and ECC events.
void add_conditions(LaunchFacts& made, const Report& report) {
  std::vector<Seen> seen(made.gpus.size());
  for (const ResultRow& result : report.results) {
    Seen& gpu = seen[result.gpu_id];
    gpu.throttling |= result.throttle_reasons;
    gpu.hottest = std::fmax(gpu.hottest, double{result.temperature_c});
    gpu.sm_mhz.add(double{result.sm_mhz});
    gpu.memory_mhz.add(double{result.memory_mhz});
    gpu.power_w.add(double{result.power_w});
    gpu.utilisation.add(double{result.utilisation});
  }
  for (const SampleRow& sample : report.samples) {
    constexpr double kPercent = 100;
    Seen& gpu = seen[report.results[report.metrics[sample.metric_id].result_id].gpu_id];
    gpu.throttling |= sample.throttle_reasons;
    gpu.hottest = std::fmax(gpu.hottest, double{sample.temperature_c});
    if ((sample.throttle_reasons & kThrottlingUnknown) == 0)
      gpu.throttled_samples.add(throttling_in(sample.throttle_reasons) ? kPercent : 0);
  }
  for (const EventRow& event : report.events) {
    constexpr std::size_t kKept = 8;  // of a GPU: a report may hold millions
    if (event.gpu_id == kNoRow || report.text(event.source) != "nvml") continue;
    std::set<std::string>& events = seen[event.gpu_id].events;
    if (events.size() < kKept) events.emplace(report.text(event.text));
  }
  for (std::size_t i = 0; i < made.gpus.size(); ++i) {
    const Seen& gpu = seen[i];
    const bool read = report.gpus[i].nvml != 0;
    made.gpus[i].values.push_back(read ? text_of_throttling(gpu.throttling) : "");
    made.gpus[i].values.push_back(!read ? ""
                                  : gpu.events.empty()
                                      ? "none"
                                      : fmt::format("{}", fmt::join(gpu.events, ", ")));
    made.gpus[i].readings = {gpu.hottest,         gpu.throttled_samples.value(),
                             gpu.sm_mhz.value(),  gpu.memory_mhz.value(),
                             gpu.power_w.value(), gpu.utilisation.value()};
  }
}

/// By case, results of which evidence is kept.
using Kept = std::vector<std::size_t>;

/// A pass that lacks what it should show is none: what that would have been is not known.
void lose(LaunchFacts& made, Kept& kept, const ResultRow& result, std::string why) {
  made.verdicts[result.case_id * made.gpus.size() + result.gpu_id] = Verdict::not_run;
  if (kept[result.case_id]++ < kEvidenceOfCase) {
    made.evidence.try_emplace({result.case_id, result.gpu_id}, Evidence{std::move(why), {}});
  }
}

void add_results(LaunchFacts& made, Kept& kept, const Report& report) {
  const std::size_t gpus = report.gpus.size();
  made.verdicts.assign(made.cases.size() * gpus, Verdict::not_run);
  made.descriptors.assign(made.verdicts.size(), 0);
  made.rows.assign(made.verdicts.size(), 0);
  for (const ResultRow& result : report.results) {
    const std::size_t cell = result.case_id * gpus + result.gpu_id;
    made.verdicts[cell] = result.verdict;
    if (has_passed(result.verdict) && result.rows_run < result.rows_planned) {
      lose(made, kept, result,
           fmt::format("passed, but ran {} of {} planned rows", result.rows_run,
                       result.rows_planned));
    } else if (has_passed(result.verdict) && result.rows_failed > 0) {
      lose(made, kept, result,
           fmt::format("passed, but {} of {} rows failed", result.rows_failed, result.rows_run));
    }
    made.rows[cell] = result.verdict == Verdict::pass ? result.rows_run : result.rows_planned;
    if (result.verdict == Verdict::waived) {
      made.waived_by_launch[cell] = verdict_before_waiver(report.text(result.reason));
    }
    if (result.rows_run == result.rows_planned) made.descriptors[cell] = result.descriptor_digest;
    if (made.cases[result.case_id].starts_with("behaviour.") && has_passed(result.verdict)) {
      made.behaviours[{result.case_id, result.gpu_id}] =
          without_stale_notes(report.text(result.notes));
    }
    if (result.verdict != Verdict::pass && result.reason != 0 &&
        kept[result.case_id]++ < kEvidenceOfCase) {
      made.evidence.try_emplace(
          {result.case_id, result.gpu_id},
          Evidence{std::string(report.text(result.reason)), replay_command(report, result)});
    }
  }
}

void add_answers(LaunchFacts& made, const Report& report) {
  std::map<std::uint32_t, std::uint32_t> places;  // of the report's texts
  const auto kept = [&](std::uint32_t text) {
    const auto [at, is_new] =
        places.try_emplace(text, static_cast<std::uint32_t>(made.answer_texts.size()));
    if (is_new) made.answer_texts.emplace_back(report.text(text));
    return at->second;
  };
  made.answers.reserve(report.answers.size());
  for (const AnswerRow& row : report.answers)
    made.answers.push_back({.of_case = report.results[row.result_id].case_id,
                            .gpu = report.results[row.result_id].gpu_id,
                            .subject = kept(row.subject),
                            .question = kept(row.question),
                            .unit = kept(row.unit),
                            .answer = row.answer,
                            .map = row.map});
}

/// Logarithms of the samples of a metric that are numbers, above for better.
std::vector<double> goodness_of(const Report& report, const MetricRow& metric) {
  const double sign = metric.higher_is_better != 0 ? 1 : -1;
  std::vector<double> made;
  for (std::uint64_t i = 0; i < metric.n; ++i) {
    const double value = report.samples[metric.first_sample + i].value;
    if (std::isfinite(value) && value > 0) made.push_back(sign * std::log(value));
  }
  return made;
}

/// SeriesOfLaunch::tails of one metric.
float tail_of(std::vector<double> goodness, double median) {
  if (goodness.size() < kFewestForTail) return std::numeric_limits<float>::quiet_NaN();
  const auto n = static_cast<std::ptrdiff_t>(goodness.size());
  const auto tenth = goodness.begin() + n / 10;
  std::nth_element(goodness.begin(), tenth, goodness.end());
  // Fewer than a tenth, each many times as slow, are below the mean of all.
  const double mean =
      std::accumulate(goodness.begin(), goodness.end(), 0.0) / static_cast<double>(n);
  return static_cast<float>(std::min(*tenth, mean) - median);
}

void add_series(LaunchFacts& made, Kept& kept, const Report& report) {
  std::map<std::tuple<std::uint32_t, std::uint32_t>, std::size_t> places;  // case, metric's name
  for (const MetricRow& metric : report.metrics) {
    const ResultRow& result = report.results[metric.result_id];
    const auto [at, is_new] = places.try_emplace({result.case_id, metric.name}, made.series.size());
    if (is_new) {
      made.series.push_back({.of_case = result.case_id,
                             .name = std::string(report.text(metric.name)),
                             .unit = std::string(report.text(metric.unit)),
                             .higher_is_better = metric.higher_is_better != 0,
                             .medians = std::vector<double>(
                                 made.gpus.size(), std::numeric_limits<double>::quiet_NaN())});
    }
    // A number stands only beside a pass, and its logarithm needs one above 0 that is finite.
    if (!has_passed(result.verdict)) continue;
    if (metric.median == 0 && metric.higher_is_better == 0) {
      made.series[at->second].noughts.insert(result.gpu_id);
      continue;
    }
    if (!std::isfinite(metric.median) || metric.median <= 0) {
      lose(made, kept, result,
           fmt::format("passed without a usable number: {} is {:g}", report.text(metric.name),
                       metric.median));
      continue;
    }
    double& median = made.series[at->second].medians[result.gpu_id];
    if (!std::isnan(median)) {
      throw ReportError(fmt::format("{}: lists {} of {} twice; leave this report out", made.path,
                                    report.text(metric.name), made.cases[result.case_id]));
    }
    median = metric.median;
    std::vector<double> goodness = goodness_of(report, metric);
    if (goodness.size() < metric.n) {
      lose(made, kept, result,
           fmt::format("passed without a usable number: {} of {} samples of {} are none",
                       metric.n - goodness.size(), metric.n, report.text(metric.name)));
    }
    const double sign = metric.higher_is_better != 0 ? 1 : -1;
    const float tail = tail_of(std::move(goodness), sign * std::log(median));
    if (std::isnan(tail)) continue;
    std::vector<float>& tails = made.series[at->second].tails;
    if (tails.empty()) tails.assign(made.gpus.size(), std::numeric_limits<float>::quiet_NaN());
    tails[result.gpu_id] = tail;
  }
}

}  // namespace

const std::vector<std::string>& gpu_factor_names() {
  static const auto names = names_of(setup_facts(), {"throttling", "events"});
  return names;
}

const std::vector<std::string>& gpu_identity_names() {
  static const auto names = names_of(identity_facts());
  return names;
}

std::span<const Reading> gpu_readings() {
  // Launches of one night on one H200 differ by up to 5 C and by 5 % of the mean clock. Less power
  // or utilisation is what slower results come with.
  static const std::array<Reading, 6> all = {
      {{.name = "temperature", .unit = "C", .alike = 10, .cause = true},
       {.name = "throttled_samples", .unit = "%", .alike = 10, .cause = true},
       {.name = "sm_clock", .unit = "MHz", .alike = 0.1, .relative = true, .cause = true},
       {.name = "memory_clock", .unit = "MHz", .alike = 0.1, .relative = true, .cause = true},
       {.name = "power_draw", .unit = "W", .alike = 0.1, .relative = true},
       {.name = "utilisation", .unit = "%", .alike = 10}}};
  return all;
}

void forget_waivers(LaunchFacts& facts) {
  for (const auto& [cell, was] : facts.waived_by_launch) facts.verdicts[cell] = was;
  std::ranges::replace(facts.verdicts, Verdict::unexpected_pass, Verdict::pass);
}

LaunchFacts facts_of(const Report& report, const std::string& path) {
  LaunchFacts made;
  made.path = path;
  made.launch = report.launch;
  made.factors = factors_of(report);
  add_gpus(made, report);
  add_conditions(made, report);
  std::set<std::string_view> seen;
  for (const CaseRow& row : report.cases) {
    if (!seen.insert(row.name.view()).second) {
      throw ReportError(
          fmt::format("{}: lists case {} twice; leave this report out", path, row.name.view()));
    }
    made.cases.emplace_back(row.name.view());
    made.over_all_gpus.push_back(report.text(row.scope) == "all_gpus");
  }
  Kept kept(made.cases.size());
  add_results(made, kept, report);
  add_series(made, kept, report);
  add_answers(made, report);
  for (const auto& [of_case, share] : slowed_cases(report)) made.slowed[of_case] = share;
  return made;
}

}  // namespace tidemark
