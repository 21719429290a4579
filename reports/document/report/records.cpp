// A report for programs: as CSV, as JSON, and as tests.
#include <fmt/format.h>
#include <algorithm>
#include <cstring>
#include <map>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/base/words.hpp"
#include "reports/document/report/document.hpp"
#include "reports/schema/verdict.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

// A report as CSV, made from the description of its tables.

namespace {

/// Calls visit with each element of the column in a row: a text, the name of a verdict, a number.
template <class Visit>
void visit_elements(const Report& report, const char* row, const Column& column, Visit visit) {
  if (column.type == ColumnType::text) {
    const std::string_view all(row + column.offset, column.count);
    return visit(all.substr(0, all.find('\0')));
  }
  visit_type(column, [&](auto value) {
    for (std::size_t i = 0; i < column.count; ++i) {
      std::memcpy(&value, row + column.offset + i * sizeof value, sizeof value);
      if constexpr (std::is_same_v<decltype(value), Verdict>) {
        visit(name_of(value));
      } else if (column.refers == kStringBytes) {
        visit(report.text(static_cast<std::uint32_t>(value)));
      } else {
        visit(value);
      }
    }
  });
}

/// Sets the columns of a row that the sheet has under the same name.
template <class Row>
void set_row(Sheet& sheet, const Report& report, const Row& row) {
  const auto* const bytes = reinterpret_cast<const char*>(&row);
  for (const Column& column : table_of<Row>().columns) {
    if (!sheet.has(column.name)) continue;
    visit_elements(report, bytes, column, [&](auto value) { sheet.set(column.name, value); });
  }
}

void set_gpu(Sheet& sheet, const Report& report, std::uint32_t gpu_id) {
  set_row(sheet, report, report.gpus[gpu_id]);
  sheet.set("node", host_of(report, gpu_id), "gpu", gpu_id);
}

/// One table for spreadsheets: a line a result, or a line each metric of it; then a line each SM,
/// in the columns of results.
Sheet sheet_of(const Report& report) {
  std::map<std::uint32_t, std::vector<const MetricRow*>> metrics;
  for (const MetricRow& metric : report.metrics) metrics[metric.result_id].push_back(&metric);
  std::map<std::string, std::string, std::less<>> slowed;
  for (const auto& [of_case, share] : slowed_cases(report)) slowed[of_case] = share;
  Sheet sheet(
      "run_id,created_utc,device,result_id,case,kind,node,gpu,uuid,driver,verdict,attempts,"
      "rows_planned,rows_run,rows_failed,seconds,reason,sm_mhz,power_w,temperature_c,replay,"
      "metric,unit,n,median,mad,min,max,mean,slowed_on_purpose,sm");
  const LaunchRow& launch = report.launch;
  const auto begin = [&](std::uint32_t gpu_id) {
    sheet.begin("run_id", launch.run_id, "created_utc", launch.created_utc, "device",
                launch.is_virtual ? "VIRTUAL" : launch.device);
    set_gpu(sheet, report, gpu_id);
  };
  for (const ResultRow& result : report.results) {
    const CaseRow& of = report.cases[result.case_id];
    begin(result.gpu_id);
    set_row(sheet, report, result);
    sheet.set("case", of.name.view(), "kind", report.text(of.kind), "replay",
              replay_command(report, result));
    const auto share = slowed.find(of.name.view());
    if (share != slowed.end()) sheet.set("slowed_on_purpose", share->second);
    const auto measured = metrics.find(result.result_id);
    if (measured == metrics.end()) {
      sheet.add_line();
      continue;
    }
    for (const MetricRow* metric : measured->second) {
      set_row(sheet, report, *metric);
      sheet.add_line("metric", report.text(metric->name));
    }
  }
  for (const SmRow& row : report.sms) {
    begin(row.gpu_id);
    set_row(sheet, report, row);
    sheet.add_line("kind", "sm");
  }
  return sheet;
}

// A report as JSON, made from the description of its tables.

OrderedJson value_of(const Report& report, const char* row, const Column& column) {
  const bool one = column.count == 1 || column.type == ColumnType::text;
  OrderedJson made;
  visit_elements(report, row, column, [&](auto value) {
    OrderedJson element = value;
    if constexpr (std::is_same_v<decltype(value), std::uint32_t>) {
      if (value == kNoRow) element = nullptr;
    }
    one ? made = std::move(element) : made.emplace_back(std::move(element));
  });
  return made;
}

OrderedJson json_of(const Report& report) {
  OrderedJson json =
      object("format", kReportFormat, "schema_major", kSchemaMajor, "schema_minor", kSchemaMinor);
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
    // Tens of thousands of 128 bytes each, which compare reads.
    if (std::is_same_v<std::remove_cvref_t<decltype(rows)>, std::vector<AnswerRow>>) return;
    OrderedJson all = OrderedJson::array();
    for (const auto& row : rows) {
      OrderedJson one;
      for (const Column& column : table.columns) {
        one[std::string(column.name)] =
            value_of(report, reinterpret_cast<const char*>(&row), column);
      }
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row)>, ResultRow>)
        one["replay"] = replay_command(report, row);
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row)>, MetricRow>) {
        const Reference* const of = reference_of(report, row);
        one["model"] = of == nullptr ? OrderedJson()
                                     : object("p5", of->p5, "p50", of->p50, "p95", of->p95,
                                              "values", of->values);
      }
      all.push_back(std::move(one));
    }
    json[std::string(table.name)] = std::move(all);
  });
  json["families"] = array(families_of(report), [](const auto& one) {
    const Family& of = one.second;
    return object("family", one.first, "passed", of.passed, "skipped", of.skipped, "planned",
                  of.planned, "gpus", of.gpus.size(), "sms", of.sms);
  });
  json["outliers"] = array(outliers_of(report).groups, [](const OutlierGroup& group) {
    return object("place", group.place, "gpus", group.gpus, "metrics", group.metrics, "slower",
                  group.slower, "median", group.median, "least", group.least, "most", group.most,
                  "z", group.z);
  });
  return json;
}

// A report as tests: a suite a node, in it a test a case; a suite more says whether the report
// is complete. Nothing of a virtual device is a pass of a GPU: all its tests are skipped.

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
  const auto skip = [&](const char* name, const std::string& message) {
    cases.push_back({.class_name = "tidemark.launch",
                     .name = name,
                     .outcome = TestOutcome::skipped,
                     .message = message.substr(0, kLongest)});
  };
  // A suite of passes would say that these numbers are those of the GPUs.
  if (const std::string slowed = slowed_text(report); !slowed.empty())
    skip("nothing was slowed on purpose", "SLOWED ON PURPOSE: " + slowed);
  // The rest ran, and the exit code says how: a warning, as in the first lines of show.
  for (const std::string_view text : left_out_of(report))
    skip("every GPU takes part", fmt::format("left out: {}", text));
  return {.name = "tidemark launch",
          .timestamp = without_zone(launch.created_utc),
          .properties = {{"run_id", launch.run_id},
                         {"tidemark", launch.tool_version},
                         {"level", launch.level},
                         {"device", launch.is_virtual ? "VIRTUAL" : launch.device},
                         {"seed", fmt::format("{:#x}", launch.seed)},
                         {"ranks", fmt::format("{} of {} reported", launch.ranks_reported,
                                               launch.ranks_expected)}},
          .cases = std::move(cases)};
}

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

}  // namespace

Views views_of(const Report& report, const ShowOptions& options) {
  return {.name = "tidemark",
          .document = [&] { return document_of(report, options); },
          .json = [&] { return json_of(report); },
          .sheet = [&] { return sheet_of(report); },
          .tests = [&] { return tests_of(report, options); }};
}

}  // namespace tidemark
