// A report for programs: as CSV, as JSON, and as tests.
#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/base/words.hpp"
#include "reports/document/report/document.hpp"
#include "reports/document/report/groups.hpp"
#include "reports/schema/verdict.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

// A report as CSV: one table for spreadsheets, a line a result, or a line each metric of it.

namespace {

template <class Number>
std::string number(Number value) {
  return std::isfinite(value) ? fmt::format("{}", value) : std::string();
}

std::string metric_fields(const Report& report, const MetricRow& metric) {
  return fmt::format(",{},{},{},{},{},{},{},{}", for_csv(report.text(metric.name)),
                     for_csv(report.text(metric.unit)), metric.n, number(metric.median),
                     number(metric.mad), number(metric.min), number(metric.max),
                     number(metric.mean));
}

std::string result_fields(const Report& report, const ResultRow& result) {
  const CaseRow& of = report.cases[result.case_id];
  const GpuRow& gpu = report.gpus[result.gpu_id];
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                     for_csv(report.launch.run_id), for_csv(report.launch.created_utc),
                     report.launch.is_virtual ? "VIRTUAL" : for_csv(report.launch.device),
                     result.result_id, for_csv(of.name.view()), for_csv(report.text(of.kind)),
                     for_csv(host_of(report, gpu.gpu_id)), result.gpu_id, for_csv(gpu.uuid.view()),
                     for_csv(report.text(gpu.driver)), name_of(result.verdict), result.attempts,
                     result.rows_planned, result.rows_run, result.rows_failed,
                     number(result.seconds), for_csv(report.text(result.reason)));
}

/// A line an SM, in the columns of results; all that is of one result stays empty.
std::string sm_line(const Report& report, const SmRow& row) {
  const GpuRow& gpu = report.gpus[row.gpu_id];
  return fmt::format("{},{},{},,,sm,{},{},{},{},,,,{},{},,,,,,,,,,,,,,,,{}\n",
                     for_csv(report.launch.run_id), for_csv(report.launch.created_utc),
                     report.launch.is_virtual ? "VIRTUAL" : for_csv(report.launch.device),
                     for_csv(host_of(report, gpu.gpu_id)), row.gpu_id, for_csv(gpu.uuid.view()),
                     for_csv(report.text(gpu.driver)), row.rows_run, row.rows_failed, row.sm);
}

}  // namespace

std::string csv_of(const Report& report) {
  std::map<std::uint32_t, std::vector<const MetricRow*>> metrics;
  for (const MetricRow& metric : report.metrics) metrics[metric.result_id].push_back(&metric);
  std::string made =
      "run_id,created_utc,device,result_id,case,kind,node,gpu,uuid,driver,verdict,attempts,"
      "rows_planned,rows_run,rows_failed,seconds,reason,sm_mhz,power_w,temperature_c,replay,"
      "metric,unit,n,median,mad,min,max,mean,slowed_on_purpose,sm\n";
  std::map<std::string, std::string> slowed;
  for (const auto& [of_case, share] : slowed_cases(report)) slowed[of_case] = for_csv(share);
  for (const ResultRow& result : report.results) {
    const std::string fields =
        fmt::format("{},{},{},{},{}", result_fields(report, result), number(result.sm_mhz),
                    number(result.power_w), number(result.temperature_c),
                    for_csv(replay_command(report, result)));
    const auto share = slowed.find(std::string(report.cases[result.case_id].name.view()));
    const std::string end = fmt::format(",{},\n", share == slowed.end() ? "" : share->second);
    const auto measured = metrics.find(result.result_id);
    if (measured == metrics.end()) {
      made += fmt::format("{},,,,,,,,{}", fields, end);
      continue;
    }
    for (const MetricRow* metric : measured->second) {
      made += fmt::format("{}{}{}", fields, metric_fields(report, *metric), end);
    }
  }
  for (const SmRow& row : report.sms) made += sm_line(report, row);
  return made;
}

// A report as JSON, made from the description of its tables.

namespace {

using Json = nlohmann::ordered_json;

template <class Value>
Value value_at(const char* row, const Column& column, std::size_t element) {
  Value value{};
  std::memcpy(&value, row + column.offset + element * sizeof(Value), sizeof(Value));
  return value;
}

Json one_of(const Report& report, const char* row, const Column& column, std::size_t element) {
  switch (column.type) {
    case ColumnType::u8:
      return value_at<std::uint8_t>(row, column, element);
    case ColumnType::u32: {
      const auto value = value_at<std::uint32_t>(row, column, element);
      if (column.refers == kStringBytes) return std::string(report.text(value));
      return value == kNoRow ? Json(nullptr) : Json(value);
    }
    case ColumnType::i32:
      return value_at<std::int32_t>(row, column, element);
    case ColumnType::u64:
      return value_at<std::uint64_t>(row, column, element);
    case ColumnType::i64:
      return value_at<std::int64_t>(row, column, element);
    case ColumnType::f32:
      return value_at<float>(row, column, element);  // NaN is dumped as null
    case ColumnType::f64:
      return value_at<double>(row, column, element);
    case ColumnType::text: {
      const std::string_view all(row + column.offset, column.count);
      return std::string(all.substr(0, all.find('\0')));
    }
    case ColumnType::verdict:
      return std::string(name_of(value_at<Verdict>(row, column, element)));
  }
  return nullptr;
}

Json value_of(const Report& report, const char* row, const Column& column) {
  if (column.count == 1 || column.type == ColumnType::text) return one_of(report, row, column, 0);
  Json all = Json::array();
  for (std::size_t i = 0; i < column.count; ++i) all.push_back(one_of(report, row, column, i));
  return all;
}

}  // namespace

std::string json_of(const Report& report) {
  Json json = {
      {"format", kReportFormat}, {"schema_major", kSchemaMajor}, {"schema_minor", kSchemaMinor}};
  const Summary summary = summary_of(report);
  json["result"] = summary.word;
  json["planned"] = summary.planned;
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    json["verdicts"][std::string(kVerdictNames[i])] = summary.verdicts[i];
  }
  for (const LaunchAttribute& attribute : launch_attributes()) {
    std::visit(
        [&](auto member) { json["launch"][std::string(attribute.name)] = report.launch.*member; },
        attribute.member);
  }
  for_each_table(report, [&](const Table& table, const auto& rows) {
    Json all = Json::array();
    for (const auto& row : rows) {
      Json one;
      for (const Column& column : table.columns) {
        one[std::string(column.name)] =
            value_of(report, reinterpret_cast<const char*>(&row), column);
      }
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row)>, ResultRow>)
        one["replay"] = replay_command(report, row);
      all.push_back(std::move(one));
    }
    json[std::string(table.name)] = std::move(all);
  });
  json["outliers"] = Json::array();
  for (const OutlierGroup& group : outliers_of(report).groups) {
    json["outliers"].push_back({{"place", group.place},
                                {"gpus", group.gpus},
                                {"metrics", group.metrics},
                                {"slower", group.slower},
                                {"median", group.median},
                                {"least", group.least},
                                {"most", group.most},
                                {"z", group.z}});
  }
  // Escaped to ASCII, so that JSON shown on a terminal cannot drive it either.
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

// A report as tests: a suite a node, in it a test a case; a suite more says whether the report
// is complete. Nothing of a virtual device is a pass of a GPU: all its tests are skipped.

namespace {

constexpr std::size_t kLongest = 400;  // characters of a message; CI shows it in a line

TestOutcome outcome_of(Verdict verdict) {
  if (is_bad(verdict)) return TestOutcome::failed;
  if (is_lacking(verdict)) return TestOutcome::error;
  return verdict == Verdict::pass ? TestOutcome::passed : TestOutcome::skipped;
}

/// A case on a node: results on its GPUs, the worst first.
TestCase case_of(const Report& report, std::vector<const ResultRow*> results,
                 const ShowOptions& options) {
  std::stable_sort(results.begin(), results.end(), [](const auto* a, const auto* b) {
    return rank_of(a->verdict) < rank_of(b->verdict);
  });
  const ResultRow& worst = *results.front();
  TestCase made{.class_name = {},
                .name = std::string(report.cases[worst.case_id].name.view()),
                .seconds = 0,
                .outcome = outcome_of(worst.verdict),
                .type = std::string(name_of(worst.verdict)),
                .message = fmt::format("{}: {}", name_of(worst.verdict),
                                       report.text(worst.reason).substr(0, kLongest)),
                .text = {}};
  for (const ResultRow* result : results) {
    if (result->seconds > 0) made.seconds += result->seconds;
    if (result->verdict == Verdict::pass) continue;
    made.text += fmt::format("{} on {}: {}\n", name_of(result->verdict),
                             place_of(report, result->gpu_id), report.text(result->reason));
    const std::string replay = replay_command(report, *result);
    if (!replay.empty()) made.text += fmt::format("  replay: {}\n", replay);
    // Finding it takes a while, and a fleet may fail alike.
    if (result != &worst || is_listed(result->verdict)) continue;
    const std::string program = program_command(options, result->result_id);
    if (!program.empty()) made.text += fmt::format("  program: {}\n", program);
  }
  if (report.launch.is_virtual) skip_virtual(made);
  return made;
}

TestSuite launch_suite(const Report& report) {
  const LaunchRow& launch = report.launch;
  TestCase complete{.class_name = "tidemark.launch",
                    .name = "report is complete",
                    .seconds = 0,
                    .outcome = launch.complete ? TestOutcome::passed : TestOutcome::error,
                    .type = "incomplete",
                    .message = launch.incomplete_reason.substr(0, kLongest),
                    .text = launch.incomplete_reason};
  if (launch.is_virtual) {
    complete.outcome = TestOutcome::skipped;
    complete.message = "VIRTUAL device, nothing was measured on a GPU; the report is " +
                       std::string(launch.complete ? "complete" : "incomplete");
  }
  std::vector<TestCase> cases = {std::move(complete)};
  const std::string slowed = slowed_text(report);
  // A suite of passes would say that these numbers are those of the GPUs.
  if (!slowed.empty()) {
    cases.push_back({.class_name = "tidemark.launch",
                     .name = "nothing was slowed on purpose",
                     .seconds = 0,
                     .outcome = TestOutcome::skipped,
                     .type = {},
                     .message = ("SLOWED ON PURPOSE: " + slowed).substr(0, kLongest),
                     .text = {}});
  }
  // The rest ran, and the exit code says how: a warning, as in the first lines of show.
  for (const std::string_view text : left_out_of(report)) {
    cases.push_back({.class_name = "tidemark.launch",
                     .name = "every GPU takes part",
                     .seconds = 0,
                     .outcome = TestOutcome::skipped,
                     .type = {},
                     .message = fmt::format("left out: {}", text).substr(0, kLongest),
                     .text = {}});
  }
  return {.name = "tidemark launch",
          .hostname = {},
          .timestamp = launch.created_utc.substr(0, launch.created_utc.find('Z')),
          .properties = {{"run_id", launch.run_id},
                         {"tidemark", launch.tool_version},
                         {"level", launch.level},
                         {"device", launch.is_virtual ? "VIRTUAL" : launch.device},
                         {"seed", fmt::format("{:#x}", launch.seed)},
                         {"ranks", fmt::format("{} of {} reported", launch.ranks_reported,
                                               launch.ranks_expected)}},
          .cases = std::move(cases)};
}

}  // namespace

std::vector<TestSuite> tests_of(const Report& report, const ShowOptions& options) {
  // By node, then by case; GPUs that never reported belong to no node (kNoRow, the last).
  std::map<std::uint32_t, std::map<std::uint32_t, std::vector<const ResultRow*>>> nodes;
  for (const ResultRow& result : report.results) {
    nodes[report.gpus[result.gpu_id].node_id][result.case_id].push_back(&result);
  }
  std::vector<TestSuite> suites = {launch_suite(report)};
  for (const auto& [node_id, cases] : nodes) {
    const std::string name = node_id == kNoRow
                                 ? "GPUs that never reported"
                                 : std::string(report.text(report.nodes[node_id].hostname));
    TestSuite suite{.name = name,
                    .hostname = node_id == kNoRow ? "" : name,
                    .timestamp = suites.front().timestamp,
                    .properties = {},
                    .cases = {}};
    suite.cases.reserve(cases.size());
    for (const auto& [case_id, results] : cases) {
      suite.cases.push_back(case_of(report, results, options));
      suite.cases.back().class_name = name;
    }
    suites.push_back(std::move(suite));
  }
  return suites;
}

}  // namespace tidemark::reports
