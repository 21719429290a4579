// tidemark list: says which cases there are.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "harness/command_line/given_report.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/plan.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/base/words.hpp"
#include "reports/compare/speed/speed.hpp"

namespace tidemark::harness {
namespace {

struct TypedList {
  std::vector<std::string> cases, exclude;
  std::string level = "soak", noise;
  bool json = false;
};

/// What compare could see of one metric with five launches a side.
struct Sensitivity {
  std::string metric;
  double spread = 0, smallest = 0;  // natural logarithms
};

/// By case, as a calibrated report has it.
using Sensitivities = std::map<std::string, std::vector<Sensitivity>, std::less<>>;

Sensitivities sensitivities_in(const std::string& path) {
  if (path.empty()) return {};
  const std::map<std::string, double> noise = calibration_in(path).noise;
  Sensitivities made;
  for (const auto& [key, spread] : noise) {
    const std::size_t slash = key.find('/');  // names of cases have none
    if (slash == std::string::npos) continue;
    made[key.substr(0, slash)].push_back(
        {.metric = key.substr(slash + 1),
         .spread = spread,
         .smallest = smallest_effect(spread, kSureLaunches, noise.size())});
  }
  return made;
}

std::string_view kind_of(const Case& which) {
  return which.kind == CaseKind::benchmark ? "benchmark" : "conformance";
}

std::string_view scope_of(const Case& which) {
  return which.scope == CaseScope::all_gpus ? "all_gpus" : "one_gpu";
}

// Of a launch on one GPU; those of an all_gpus case depend on how many there are.
std::size_t rows_at_quick(const Case& which) {
  return which.rows == nullptr ? 0 : which.rows(RunContext{.level = Level::quick}).size();
}

nlohmann::json json_of(const std::vector<Sensitivity>& metrics) {
  nlohmann::json made = nlohmann::json::array();
  for (const Sensitivity& one : metrics) {
    made.push_back(
        {{"metric", one.metric}, {"spread", one.spread}, {"smallest_effect", one.smallest}});
  }
  return made;
}

void print_json(const std::vector<const Case*>& cases, const Sensitivities& sensitivities) {
  nlohmann::json list = nlohmann::json::array();
  for (const Case* which : cases) {
    list.push_back({{"name", which->name},
                    {"kind", kind_of(*which)},
                    {"scope", scope_of(*which)},
                    {"fewest_gpus", which->fewest_gpus},
                    {"level", name_of(which->level)},
                    {"rows_at_quick", rows_at_quick(*which)},
                    {"seconds", which->seconds},
                    {"unit", which->unit},
                    {"correct_by", which->correct_by},
                    {"claim", which->claim},
                    {"cites", which->cites}});
    const auto at = sensitivities.find(which->name);
    if (!sensitivities.empty())
      list.back()["sees"] = at == sensitivities.end() ? nlohmann::json() : json_of(at->second);
  }
  print_out(list.dump(2) + '\n');
}

/// "1.00 %", or of several metrics "1.00 % to 3.10 %".
std::string seen_of(const Sensitivities& sensitivities, std::string_view name) {
  const auto at = sensitivities.find(name);
  if (at == sensitivities.end()) return "-";
  const auto [least, most] =
      std::minmax_element(at->second.begin(), at->second.end(),
                          [](const auto& a, const auto& b) { return a.smallest < b.smallest; });
  const std::string from = percent(least->smallest), to = percent(most->smallest);
  return from == to ? from : from + " to " + to;
}

void print_table(const std::vector<const Case*>& cases, const Sensitivities& sensitivities) {
  std::size_t width = 4;
  for (const Case* which : cases) width = std::max(width, which->name.size());
  constexpr const char* kLine = "{:<{}}  {:<11}  {:<8}  {:<7}  {:>5}  {}{}\n";
  const auto seen = [&](const std::string& text) {
    return sensitivities.empty() ? std::string() : fmt::format("{:<16}  ", text);
  };
  std::string table = sensitivities.empty() ? ""
                                            : "sees: the smallest change that compare finds 8 "
                                              "times of 10 with five launches a side\n";
  table +=
      fmt::format(kLine, "name", width, "kind", "scope", "level", "rows", seen("sees"), "claim");
  for (const Case* which : cases) {
    table += fmt::format(kLine, which->name, width, kind_of(*which), scope_of(*which),
                         name_of(which->level), rows_at_quick(*which),
                         seen(seen_of(sensitivities, which->name)), which->claim);
  }
  print_out(table);
}

ExitCode list(const TypedList& typed) {
  const std::vector<const Case*> cases =
      selected_cases({.cases = items_of("--cases", typed.cases),
                      .exclude = items_of("--exclude", typed.exclude),
                      .level = level_of(typed.level)});
  const Sensitivities sensitivities = sensitivities_in(typed.noise);
  typed.json ? print_json(cases, sensitivities) : print_table(cases, sensitivities);
  return ExitCode::ok;
}

}  // namespace

void add_list(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("list", "List the cases and what each one claims");
  verb->footer("tidemark list --cases 'load.*' --level quick");
  auto typed = std::make_shared<TypedList>();
  verb->add_option("--cases", typed->cases, "Cases to list, by name or glob (all)")
      ->type_name("GLOB");
  verb->add_option("--exclude", typed->exclude, "Cases to leave out")->type_name("GLOB");
  verb->add_option("--level", typed->level, "Those that this level runs (soak: all)")
      ->type_name(level_names());
  verb->add_option("--noise", typed->noise,
                   "A calibrated report: what change of each measured case compare could see")
      ->type_name("FILE");
  verb->add_flag("--json", typed->json, "As JSON");
  verb->callback([typed, &chosen] { chosen = [typed] { return list(*typed); }; });
}

}  // namespace tidemark::harness
