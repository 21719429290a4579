// A history for programs: as CSV, as JSON, and as tests.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "reports/base/statistics.hpp"
#include "reports/base/words.hpp"
#include "reports/document/history/document.hpp"

namespace tidemark {

// A history as CSV: one table for spreadsheets.

namespace {

constexpr std::array kSetup = {"driver", "git_hash", "kernels_tree", "suite_tree"};
/// Of each launch, asked for once: each takes a look at all of its GPUs.
using Setups = std::vector<std::array<std::string, kSetup.size()>>;

Setups setups_of(const Chronicle& all) {
  Setups made(all.launches.size());
  for (std::uint32_t launch = 0; launch < made.size(); ++launch) {
    for (std::size_t i = 0; i < kSetup.size(); ++i) {
      made[launch][i] = setup_value(all, launch, kSetup[i]);
    }
  }
  return made;
}

/// Of a launch and what it measured or ran of a case.
void set_launch(Sheet& sheet, const Chronicle& all, const Setups& setups, std::uint32_t launch,
                const std::string& of_case) {
  const PastLaunch& past = all.launches[launch];
  sheet.begin("created_utc", utc_text(past.at_unix_s), "run_id", past.run_id, "path", past.path,
              "device", past.is_virtual ? "VIRTUAL" : past.device, "level", past.level, "complete",
              past.incomplete_reason.empty() ? "complete" : "incomplete", "case", of_case);
  for (std::size_t i = 0; i < kSetup.size(); ++i) sheet.set(kSetup[i], setups[launch][i]);
  const auto slowed = past.slowed.find(of_case);
  if (slowed != past.slowed.end()) sheet.set("slowed_on_purpose", slowed->second);
}

/// By launch and GPU: the change that this launch is the first one behind.
using Steps = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

void add_metric(Sheet& sheet, const History& history, const Setups& setups,
                const MetricPast& metric) {
  Steps steps;
  for (const std::size_t i : metric.changes) {
    steps[{history.changes[i].after, history.changes[i].gpu}] = history.changes[i].step;
  }
  const MetricLevels levels = levels_of(history.chronicle, *metric.values);
  for (std::size_t i = 0; i < levels.launches.size(); ++i) {
    const std::uint32_t launch = levels.launches[i];
    set_launch(sheet, history.chronicle, setups, launch, metric.key.case_name);
    sheet.set("metric", metric.key.metric, "unit", metric.key.unit);
    const auto add = [&](std::uint32_t gpu, std::string_view name, double value) {
      const auto step = steps.find({launch, gpu});
      const double change = step == steps.end() ? kNoNumber : 100 * std::expm1(step->second);
      sheet.add_line("gpu", name, "median", SheetNumber(std::exp(value), "{:.7g}"),
                     "change_percent", SheetNumber(change, "{:.2f}"));
    };
    add(kNoRow, "all", levels.typical[i]);
    for (std::size_t gpu = 0; gpu < levels.gpus.size(); ++gpu) {
      if (std::isnan(levels.own[gpu][i])) continue;
      add(levels.gpus[gpu], history.chronicle.gpus[levels.gpus[gpu]].key, levels.own[gpu][i]);
    }
  }
}

Sheet sheet_of(const History& history) {
  Sheet sheet(
      "created_utc,run_id,path,device,level,complete,driver,git_hash,kernels_tree,suite_tree,"
      "case,metric,gpu,median,unit,change_percent,worst_verdict,gpus_passed,gpus_bad,"
      "gpus_lacking,gpus_waived,rows,slowed_on_purpose");
  const Setups setups = setups_of(history.chronicle);
  for (const MetricPast& metric : history.metrics) add_metric(sheet, history, setups, metric);
  for (const CasePast& past : history.cases) {
    for (const PastResults& each : *past.results) {
      set_launch(sheet, history.chronicle, setups, each.launch, past.name);
      sheet.add_line("gpu", "all", "worst_verdict", name_of(each.worst), "gpus_passed", each.passed,
                     "gpus_bad", each.bad, "gpus_lacking", each.lacking, "gpus_waived", each.waived,
                     "rows", each.rows);
    }
  }
  return sheet;
}

// A history as JSON.

OrderedJson counts_of(const PastLaunch& launch) {
  OrderedJson made = OrderedJson::object();
  for (std::size_t i = 0; i < kVerdicts; ++i) {
    if (launch.verdicts[i] > 0) made[std::string(kVerdictNames[i])] = launch.verdicts[i];
  }
  return made;
}

OrderedJson launch_json(const Chronicle& all, std::uint32_t number) {
  const PastLaunch& launch = all.launches[number];
  OrderedJson setup = OrderedJson::object();
  for (const std::string& name : setup_names()) setup[name] = setup_value(all, number, name);
  for (const Factor& factor : launch.factors) setup[factor.name] = factor.value;
  return object("path", launch.path, "run_id", launch.run_id, "created_utc",
                utc_text(launch.at_unix_s), "created_unix_s", launch.at_unix_s, "level",
                launch.level, "device", launch.device, "virtual", launch.is_virtual, "complete",
                launch.incomplete_reason.empty(), "incomplete_reason", launch.incomplete_reason,
                "gpus", launch.gpus.size(), "verdicts", counts_of(launch), "slowed", launch.slowed,
                "setup", setup);
}

OrderedJson setup_json(const std::vector<SetupChange>& setup) {
  return array(setup, [](const SetupChange& change) {
    return object("factor", change.factor, "before", change.before, "after", change.after);
  });
}

OrderedJson gpu_json(const History& history, std::uint32_t gpu) {
  return gpu == kNoRow ? "all" : history.chronicle.gpus[gpu].key;
}

OrderedJson change_json(const History& history, const LevelChange& change) {
  return object("gpu", gpu_json(history, change.gpu), "apart_from_the_others", change.apart,
                "last_launch_before", change.before, "first_launch_after", change.after, "percent",
                100 * std::expm1(change.step), "from", change.from, "to", change.to, "worse",
                change.is_worse(history.metrics[change.metric].key), "p", change.p);
}

OrderedJson metric_json(const History& history, const MetricPast& metric) {
  const MetricLevels levels = levels_of(history.chronicle, *metric.values);
  const auto values = [](const std::vector<double>& logarithms) {
    return array(logarithms, [](double value) { return std::exp(value); });
  };
  OrderedJson gpus = OrderedJson::array();
  for (std::size_t i = 0; i < levels.gpus.size(); ++i) {
    gpus.push_back(
        object("gpu", gpu_json(history, levels.gpus[i]), "medians", values(levels.own[i])));
  }
  return object("case", metric.key.case_name, "metric", metric.key.metric, "unit", metric.key.unit,
                "level", metric.key.level, "virtual", metric.key.is_virtual, "higher_is_better",
                metric.key.higher_is_better, "judged", name_of(metric.judged), "launches",
                levels.launches, "typical", values(levels.typical), "gpus", gpus, "changes",
                array(metric.changes, [&](std::size_t change) {
                  return change_json(history, history.changes[change]);
                }));
}

OrderedJson case_json(const History& history, const CasePast& past) {
  const auto launch = [](const PastResults& each) {
    return object("launch", each.launch, "state", name_of(state_of(each)), "worst",
                  name_of(each.worst), "passed", each.passed, "bad", each.bad, "waived",
                  each.waived, "rows", each.rows, "lacking", each.lacking, "quiet", each.quiet);
  };
  const auto known = [](bool is_known, std::uint32_t number) {
    return is_known ? OrderedJson(number) : OrderedJson(nullptr);
  };
  const bool failed = past.first_bad.has_value();
  return object(
      "case", past.name, "virtual", past.is_virtual, "state", name_of(past.state),
      "launches_in_a_row", past.in_a_row, "launches_bad", past.launches_bad, "turns", past.turns,
      "launches_waived", past.launches_waived, "launches_without_it", past.launches_without,
      "bad_gpus", array(past.results->back().bad_gpus, gpu_json, history), "open_gpus",
      array(past.open_gpus, gpu_json, history), "changed_since_it_passed", setup_json(past.setup),
      "launches", array(*past.results, launch), "first_bad_launch",
      known(failed, past.first_bad.value_or(0)), "last_bad_launch", known(failed, past.last_bad),
      "since_launch", known(failed || past.state == CaseState::passing, past.since));
}

OrderedJson json_of(const History& history, const ShowOptions& options) {
  OrderedJson launches = OrderedJson::array();
  for (std::uint32_t i = 0; i < history.chronicle.launches.size(); ++i)
    launches.push_back(launch_json(history.chronicle, i));
  const auto event_json = [&](const ChangeEvent& event) {
    return object("last_launch_before", event.before, "first_launch_after", event.after, "gpu",
                  gpu_json(history, event.gpu), "metrics", event.changes.size(), "setup",
                  setup_json(event.setup), "release", setup_json(releases_in(event.setup)));
  };
  const auto release_json = [&](const Release& release) {
    return object("last_launch_before", release.before, "first_launch_after", release.after,
                  "setup", setup_json(release.setup));
  };
  const auto newest = [&](const LevelChange& change) {
    OrderedJson made = change_json(history, change);
    made["metric"] = title_of(history.metrics[change.metric].key);
    made["nights"] = change.nights;
    return made;
  };
  return object("launches", launches, "refused", options.refused, "floor_percent",
                100 * history.options.floor, "metrics",
                array(history.metrics, metric_json, history), "events",
                array(history.events, event_json), "releases",
                array(history.releases, release_json), "newest_nights_outside",
                array(history.newest, newest), "cases", array(history.cases, case_json, history));
}

// A history as tests: a test a case, as the newest launches left it. Changes of speed are
// advice, and no test.

TestOutcome outcome_of(CaseState state) {
  if (state == CaseState::failing) return TestOutcome::failed;
  // Open: a failure that nothing as large took back.
  if (state == CaseState::open || state == CaseState::lacking) return TestOutcome::error;
  return state == CaseState::passing ? TestOutcome::passed : TestOutcome::skipped;
}

std::string text_of(const History& history, const CasePast& past) {
  switch (past.state) {
    case CaseState::failing:
      return fmt::format("failing since {} ({} in a row); changed since it passed: {}",
                         when(history, past.since), plural(past.in_a_row, "launch"),
                         setup_text(past.setup, 6));
    case CaseState::open:
      return fmt::format("{} on {}; nothing as large passed there since",
                         opened_text(history, past), gpu_name(history, past.open_gpus.front()));
    case CaseState::lacking:
      return fmt::format("has no answer in {}",
                         history.chronicle.launches[past.results->back().launch].path);
    case CaseState::waived:
      return fmt::format("waived since {} ({} in a row)", when(history, past.since),
                         plural(past.in_a_row, "launch"));
    case CaseState::quiet:
      return "skipped in the newest launches";
    case CaseState::passing:
      break;
  }
  return "passing";
}

TestCase case_of(const History& history, const CasePast& past) {
  TestCase made{.class_name = "tidemark.history",
                .name = past.name + (past.is_virtual ? " (VIRTUAL)" : ""),
                .outcome = outcome_of(past.state),
                .type = std::string(name_of(past.state)),
                .message = text_of(history, past)};
  if (past.is_virtual) skip_virtual(made);
  return made;
}

std::vector<TestSuite> tests_of(const History& history, const ShowOptions& options) {
  const PastLaunch& newest = history.chronicle.launches.back();
  TestSuite suite{.name = "tidemark history",
                  .timestamp = without_zone(utc_text(newest.at_unix_s)),
                  .properties = {{"launches", plural(history.chronicle.launches.size(), "launch")},
                                 {"cases", cases_summary(history)},
                                 {"speed", metrics_summary(history)}}};
  suite.cases.reserve(history.cases.size() + 2);
  // The newest of all may be among those.
  if (!options.refused.empty())
    suite.cases.push_back({.class_name = "tidemark.history",
                           .name = "every report can be read",
                           .outcome = TestOutcome::error,
                           .type = "refused",
                           .message = fmt::format("{}", fmt::join(options.refused, "; "))});
  suite.cases.push_back(
      {.class_name = "tidemark.history",
       .name = "the newest report is complete",
       .outcome = newest.is_virtual                  ? TestOutcome::skipped
                  : newest.incomplete_reason.empty() ? TestOutcome::passed
                                                     : TestOutcome::error,
       .type = "incomplete",
       .message = newest.is_virtual ? "VIRTUAL device" : newest.incomplete_reason});
  for (const CasePast& past : history.cases) suite.cases.push_back(case_of(history, past));
  return {std::move(suite)};
}

}  // namespace

Views views_of(const History& history, const ShowOptions& options) {
  return {.name = "tidemark history",
          .document = [&] { return document_of(history, options); },
          .json = [&] { return json_of(history, options); },
          .sheet = [&] { return sheet_of(history); },
          .tests = [&] { return tests_of(history, options); },
          .json_indent = 1};
}

}  // namespace tidemark
