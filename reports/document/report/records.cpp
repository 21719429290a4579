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
#include "reports/schema/verdict.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

// A report as CSV: one table for spreadsheets, a line a result, or a line each metric of it; then a
// line each SM, in the columns of results.

namespace {

void set_launch(Sheet& sheet, const LaunchRow& launch) {
  sheet.clear();
  sheet.set("run_id", launch.run_id).set("created_utc", launch.created_utc);
  sheet.set("device", launch.is_virtual ? "VIRTUAL" : launch.device);
}

void set_gpu(Sheet& sheet, const Report& report, const GpuRow& gpu) {
  sheet.set("node", host_of(report, gpu.gpu_id)).set_number("gpu", gpu.gpu_id);
  sheet.set("uuid", gpu.uuid.view()).set("driver", report.text(gpu.driver));
}

void set_result(Sheet& sheet, const Report& report, const ResultRow& result) {
  const CaseRow& of = report.cases[result.case_id];
  sheet.set_number("result_id", result.result_id).set("case", of.name.view());
  sheet.set("kind", report.text(of.kind));
  set_gpu(sheet, report, report.gpus[result.gpu_id]);
  sheet.set("verdict", name_of(result.verdict)).set_number("attempts", result.attempts);
  sheet.set_number("rows_planned", result.rows_planned).set_number("rows_run", result.rows_run);
  sheet.set_number("rows_failed", result.rows_failed).set_number("seconds", result.seconds);
  sheet.set("reason", report.text(result.reason)).set_number("sm_mhz", result.sm_mhz);
  sheet.set_number("power_w", result.power_w).set_number("temperature_c", result.temperature_c);
  sheet.set("replay", replay_command(report, result));
}

void set_metric(Sheet& sheet, const Report& report, const MetricRow& metric) {
  sheet.set("metric", report.text(metric.name)).set("unit", report.text(metric.unit));
  sheet.set_number("n", metric.n).set_number("median", metric.median).set_number("mad", metric.mad);
  sheet.set_number("min", metric.min).set_number("max", metric.max).set_number("mean", metric.mean);
}

}  // namespace

std::string csv_of(const Report& report) {
  std::map<std::uint32_t, std::vector<const MetricRow*>> metrics;
  for (const MetricRow& metric : report.metrics) metrics[metric.result_id].push_back(&metric);
  std::map<std::string, std::string, std::less<>> slowed;
  for (const auto& [of_case, share] : slowed_cases(report)) slowed[of_case] = share;
  Sheet sheet(
      "run_id,created_utc,device,result_id,case,kind,node,gpu,uuid,driver,verdict,attempts,"
      "rows_planned,rows_run,rows_failed,seconds,reason,sm_mhz,power_w,temperature_c,replay,"
      "metric,unit,n,median,mad,min,max,mean,slowed_on_purpose,sm");
  for (const ResultRow& result : report.results) {
    set_launch(sheet, report.launch);
    set_result(sheet, report, result);
    const auto share = slowed.find(report.cases[result.case_id].name.view());
    if (share != slowed.end()) sheet.set("slowed_on_purpose", share->second);
    const auto measured = metrics.find(result.result_id);
    if (measured == metrics.end()) {
      sheet.add_line();
      continue;
    }
    for (const MetricRow* metric : measured->second) {
      set_metric(sheet, report, *metric);
      sheet.add_line();
    }
  }
  for (const SmRow& row : report.sms) {
    set_launch(sheet, report.launch);
    sheet.set("kind", "sm");
    set_gpu(sheet, report, report.gpus[row.gpu_id]);
    sheet.set_number("rows_run", row.rows_run).set_number("rows_failed", row.rows_failed);
    sheet.set_number("sm", row.sm).add_line();
  }
  return sheet.csv();
}

// A report as JSON, made from the description of its tables.

namespace {

using Json = nlohmann::ordered_json;

Json one_of(const Report& report, const char* row, const Column& column, std::size_t element) {
  if (column.type == ColumnType::text) {
    const std::string_view all(row + column.offset, column.count);
    return std::string(all.substr(0, all.find('\0')));
  }
  return visit_type(column, [&](auto value) -> Json {
    std::memcpy(&value, row + column.offset + element * sizeof value, sizeof value);
    if constexpr (std::is_same_v<decltype(value), Verdict>) return std::string(name_of(value));
    if constexpr (std::is_same_v<decltype(value), std::uint32_t>) {
      if (column.refers == kStringBytes) return std::string(report.text(value));
      if (value == kNoRow) return nullptr;
    }
    return value;  // NaN is dumped as null
  });
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
  std::ranges::stable_sort(results, {}, [](const auto* of) { return rank_of(of->verdict); });
  const ResultRow& worst = *results.front();
  TestCase made{.name = std::string(report.cases[worst.case_id].name.view()),
                .outcome = outcome_of(worst.verdict),
                .type = std::string(name_of(worst.verdict)),
                .message = fmt::format("{}: {}", name_of(worst.verdict),
                                       report.text(worst.reason).substr(0, kLongest))};
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
                     .outcome = TestOutcome::skipped,
                     .message = ("SLOWED ON PURPOSE: " + slowed).substr(0, kLongest)});
  }
  // The rest ran, and the exit code says how: a warning, as in the first lines of show.
  for (const std::string_view text : left_out_of(report)) {
    cases.push_back({.class_name = "tidemark.launch",
                     .name = "every GPU takes part",
                     .outcome = TestOutcome::skipped,
                     .message = fmt::format("left out: {}", text).substr(0, kLongest)});
  }
  return {.name = "tidemark launch",
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
                    .timestamp = suites.front().timestamp};
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
