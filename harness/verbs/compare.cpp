// tidemark compare: compares reports of launches before a change with those after it.
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/given_report.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/base/disk.hpp"
#include "reports/compare/comparison.hpp"
#include "reports/policy/policy.hpp"
#include "reports/render/show.hpp"

namespace tidemark {
namespace {

struct TypedCompare {
  std::vector<std::string> files, base, fresh, fail_on, allow;
  std::string explain, policy, references, pair = "uuid";
  std::optional<double> floor_percent;
  std::string_view format = kTerminal;
  bool all = false, no_color = false;
};

std::set<std::string> known(std::string_view option, const std::vector<std::string>& given,
                            const std::vector<std::string_view>& names) {
  std::set<std::string> made;
  for (const std::string& name : given) {
    // A variable is named by what it is: environment.NCCL_ALGO.
    const bool variable = option == "--allow-confounders" && name.starts_with("environment.");
    if (!variable && std::find(names.begin(), names.end(), name) == names.end()) {
      const std::string near = did_you_mean(name, names);
      throw UsageError(
          fmt::format("{} '{}': {}", option, name,
                      near.empty() ? fmt::format("give one of {}", fmt::join(names, ", ")) : near));
    }
    made.insert(name);
  }
  return made;
}

// What is typed goes before what the policy says. What "none" alone means is nothing.
std::set<std::string> fail_on_of(const TypedCompare& typed, const Policy& policy) {
  const std::vector<std::string> usual = {"regressed", "new_fail", "flaky", "missing"};
  const std::vector<std::string> given = items_of("--fail-on", typed.fail_on);
  const std::vector<std::string> names =
      typed.fail_on.empty() ? policy.fail_on.value_or(usual) : given;
  if (names == std::vector<std::string>{"none"}) return {};
  return expanded(known("--fail-on", names, finding_names()));
}

CompareOptions options_of(const TypedCompare& typed, const Policy& policy) {
  CompareOptions made;
  made.allowed = known("--allow-confounders",
                       typed.allow.empty() ? policy.allow_confounders.value_or(typed.allow)
                                           : items_of("--allow-confounders", typed.allow),
                       factor_names());
  if (!typed.policy.empty()) made.waivers = policy.waivers;
  made.pair_by = pair_by_of(typed.pair);
  if (!typed.references.empty()) {
    constexpr std::size_t kMostBytes = std::size_t{1} << 26;
    const std::string text =
        file_text(typed.references, kMostBytes, "--references " + typed.references,
                  "give what 'tidemark export --format references' wrote");
    made.references = read_references(text, typed.references);
  }
  const References& committed = committed_references();
  made.references.insert(committed.begin(), committed.end());  // where there are none of its own
  made.speed.floor = typed.floor_percent ? floor_of(*typed.floor_percent)
                                         : policy.floor.value_or(made.speed.floor);
  made.speed.floors = policy.floors;
  return made;
}

// One report in memory at a time: they are far larger than what is kept of them.
std::vector<LaunchFacts> read_side(const std::vector<std::string>& paths) {
  std::vector<LaunchFacts> made;
  made.reserve(paths.size());
  for (const std::string& path : paths) made.push_back(facts_of(given_report(path), path));
  return made;
}

ExitCode compare(TypedCompare typed) {
  const bool by_option = !typed.base.empty() || !typed.fresh.empty();
  if (by_option ? !typed.files.empty() || typed.base.empty() || typed.fresh.empty()
                : typed.files.size() != 2) {
    throw UsageError(
        "compare takes two reports, or several a side: compare A.h5 B.h5, "
        "compare --base A1.h5 A2.h5 --new B1.h5 B2.h5");
  }
  if (!by_option) {
    typed.base = {typed.files[0]};
    typed.fresh = {typed.files[1]};
  }
  const Policy policy = typed.policy.empty() ? Policy{} : read_policy(typed.policy);
  const std::set<std::string> fail_on = fail_on_of(typed, policy);
  const CompareOptions options = options_of(typed, policy);
  std::vector<LaunchFacts> base = read_side(typed.base);  // first: a trouble is said in this order
  const Comparison comparison = compare_launches(std::move(base), read_side(typed.fresh), options);
  const ShowOptions shown = {.colour = colour_wanted(typed.no_color),
                             .all = typed.all,
                             .columns = terminal_columns(ShowOptions{}.columns),
                             .fail_on = fail_on};
  print_out(typed.explain.empty() ? show_comparison(comparison, shown, typed.format)
                                  : explain_case(comparison, typed.explain, shown.columns));
  constexpr std::array kCodes = {ExitCode::failed, ExitCode::incomplete, ExitCode::regression,
                                 ExitCode::inconclusive};  // by Failing
  std::vector<ExitCode> codes;
  for (const std::string& finding : findings_of(comparison))
    if (fail_on.contains(finding))
      codes.push_back(kCodes.at(static_cast<std::size_t>(failing_of(finding))));
  return worst(codes);
}

}  // namespace

void add_compare(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("compare", "Compare reports");
  verb->footer("tidemark compare --base before-*.h5 --new after-*.h5");
  auto typed = std::make_shared<TypedCompare>();
  verb->add_option("files", typed->files, "Two reports, the older first")->type_name("FILE");
  verb->add_option("--base", typed->base, "Launches before the change")->type_name("FILE");
  verb->add_option("--new", typed->fresh, "Launches after it")->type_name("FILE");
  verb->add_option("--fail-on", typed->fail_on,
                   "Findings that give an exit code other than 0; none, all "
                   "(regressed,new_fail,flaky,missing)")
      ->allow_extra_args(false)  // the reports may stand behind it
      ->type_name("NAME");
  verb->add_option("--allow-confounders", typed->allow, "Differences that are known not to matter")
      ->allow_extra_args(false)
      ->type_name("NAME");
  verb->add_option("--policy", typed->policy,
                   "JSON: what fails, what is allowed, what is small, and waivers")
      ->type_name("FILE");
  CLI::Option* const explain =
      verb->add_option("--explain", typed->explain, "Every number behind one case")
          ->type_name("CASE");
  verb->add_option("--floor", typed->floor_percent,
                   "Least change of speed that counts, percent (1)")
      ->transform(without_percent_sign)
      ->type_name("PERCENT");
  verb->add_option("--references", typed->references,
                   "What GPUs of each model have, by export --format references; without: that of "
                   "the project's own reports")
      ->type_name("FILE");
  verb->add_option("--pair", typed->pair, "GPUs are the same by uuid or by number")
      ->type_name("uuid|number");
  add_formats(*verb, typed->format,
              {{"csv", "a line a case and GPU, then a line a metric"},
               {"junit", "a test a kind of finding and a test a case; what --fail-on names fails"},
               {"html", "tidemark compare a.h5 b.h5 --html > c.html"}},
              {explain});
  verb->add_flag("--all", typed->all,
                 "Also what did not change, and every list in full (terminal, HTML)");
  verb->add_flag("--no-color", typed->no_color, "Plain text on a terminal too");
  verb->callback([typed, &chosen] { chosen = [typed] { return compare(*typed); }; });
}

}  // namespace tidemark
