// tidemark list: says which cases there are.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "harness/command_line/option_values.hpp"
#include "harness/plan.hpp"
#include "harness/verbs/verbs.hpp"

namespace tidemark {
namespace {

struct TypedList {
  std::vector<std::string> cases, exclude;
  std::string level = "soak";
  bool json = false;
};

// Of a launch on one GPU; those of an all_gpus case depend on how many there are.
std::size_t rows_at_quick(const Case& which) {
  return which.rows == nullptr ? 0 : which.rows(RunContext{.level = Level::quick}).size();
}

void print_json(const std::vector<const Case*>& cases) {
  nlohmann::json list = nlohmann::json::array();
  for (const Case* which : cases) {
    list.push_back({{"name", which->name},
                    {"kind", name_of(which->kind)},
                    {"scope", name_of(which->scope)},
                    {"fewest_gpus", which->fewest_gpus},
                    {"level", name_of(which->level)},
                    {"rows_at_quick", rows_at_quick(*which)},
                    {"seconds", which->seconds},
                    {"unit", which->unit},
                    {"correct_by", which->correct_by},
                    {"claim", which->claim},
                    {"cites", which->cites}});
  }
  print_out(list.dump(2) + '\n');
}

void print_table(const std::vector<const Case*>& cases) {
  std::size_t width = 4;
  for (const Case* which : cases) width = std::max(width, which->name.size());
  constexpr const char* kLine = "{:<{}}  {:<11}  {:<8}  {:<7}  {:>5}  {}\n";
  std::string table = fmt::format(kLine, "name", width, "kind", "scope", "level", "rows", "claim");
  for (const Case* which : cases) {
    table += fmt::format(kLine, which->name, width, name_of(which->kind), name_of(which->scope),
                         name_of(which->level), rows_at_quick(*which), which->claim);
  }
  print_out(table);
}

ExitCode list(const TypedList& typed) {
  const std::vector<const Case*> cases =
      selected_cases({.cases = items_of("--cases", typed.cases),
                      .exclude = items_of("--exclude", typed.exclude),
                      .level = level_of(typed.level)});
  typed.json ? print_json(cases) : print_table(cases);
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
  verb->add_flag("--json", typed->json, "As JSON");
  verb->callback([typed, &chosen] { chosen = [typed] { return list(*typed); }; });
}

}  // namespace tidemark
