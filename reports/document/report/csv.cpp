// A report as CSV: one table for spreadsheets, a line a result, or a line each metric of it.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <vector>

#include "reports/base/escape.hpp"
#include "reports/document/report/document.hpp"
#include "reports/store/replay_command.hpp"

namespace tidemark::reports {
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

}  // namespace tidemark::reports
