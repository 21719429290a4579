// A history as CSV: one table for spreadsheets.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "reports/base/escape.hpp"
#include "reports/document/history/document.hpp"

namespace tidemark::reports {
namespace {

/// Columns that are the same in all lines of a launch.
std::vector<std::string> launch_fields(const Chronicle& all) {
  std::vector<std::string> made;
  for (std::uint32_t i = 0; i < all.launches.size(); ++i) {
    const PastLaunch& launch = all.launches[i];
    made.push_back(fmt::format(
        "{},{},{},{},{},{}", utc_text(launch.at_unix_s), for_csv(launch.run_id),
        for_csv(launch.path), launch.is_virtual ? "VIRTUAL" : for_csv(launch.device),
        for_csv(launch.level), launch.incomplete_reason.empty() ? "complete" : "incomplete"));
    for (const char* name : {"driver", "git_hash", "kernels_tree", "suite_tree"}) {
      made.back() += ',';
      made.back() += for_csv(setup_value(all, i, name));
    }
  }
  return made;
}

/// By launch and GPU: the change that this launch is the first one behind.
using Steps = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

std::string value_line(const std::string& fields, const MetricKey& key, const std::string& gpu,
                       double value, const double* step, const std::string& slowed) {
  return fmt::format("{},{},{},{},{:.7g},{},{},,,,,,,{}\n", fields, for_csv(key.case_name),
                     for_csv(key.metric), gpu, value, for_csv(key.unit),
                     step == nullptr ? "" : fmt::format("{:.2f}", 100 * std::expm1(*step)), slowed);
}

std::string slowed_share(const PastLaunch& launch, const std::string& of_case) {
  const auto at = launch.slowed.find(of_case);
  return at == launch.slowed.end() ? std::string() : for_csv(at->second);
}

void add_metric(std::string& made, const History& history, const MetricPast& metric,
                const std::vector<std::string>& fields) {
  Steps steps;
  for (const std::size_t i : metric.changes) {
    steps[{history.changes[i].after, history.changes[i].gpu}] = history.changes[i].step;
  }
  const MetricLevels levels = levels_of(history.chronicle, *metric.values);
  for (std::size_t i = 0; i < levels.launches.size(); ++i) {
    const std::uint32_t launch = levels.launches[i];
    const auto add = [&](std::uint32_t gpu, const std::string& name, double value) {
      const auto step = steps.find({launch, gpu});
      made += value_line(fields[launch], metric.key, name, std::exp(value),
                         step == steps.end() ? nullptr : &step->second,
                         slowed_share(history.chronicle.launches[launch], metric.key.case_name));
    };
    add(kNoRow, "all", levels.typical[i]);
    for (std::size_t gpu = 0; gpu < levels.gpus.size(); ++gpu) {
      if (std::isnan(levels.own[gpu][i])) continue;
      add(levels.gpus[gpu], for_csv(history.chronicle.gpus[levels.gpus[gpu]].key),
          levels.own[gpu][i]);
    }
  }
}

}  // namespace

std::string history_csv(const History& history) {
  const std::vector<std::string> fields = launch_fields(history.chronicle);
  std::string made =
      "created_utc,run_id,path,device,level,complete,driver,git_hash,kernels_tree,suite_tree,case,"
      "metric,gpu,median,unit,change_percent,worst_verdict,gpus_passed,gpus_bad,gpus_lacking,"
      "gpus_waived,rows,slowed_on_purpose\n";
  for (const MetricPast& metric : history.metrics) add_metric(made, history, metric, fields);
  for (const CasePast& past : history.cases) {
    for (const PastResults& each : *past.results) {
      made += fmt::format("{},{},,all,,,,{},{},{},{},{},{},{}\n", fields[each.launch],
                          for_csv(past.name), name_of(each.worst), each.passed, each.bad,
                          each.lacking, each.waived, each.rows,
                          slowed_share(history.chronicle.launches[each.launch], past.name));
    }
  }
  return made;
}

}  // namespace tidemark::reports
