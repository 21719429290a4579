// Sets up CLI11 and turns its errors into one line each.
#include "harness/verbs/verbs.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/version.hpp"
#include "suite/case.hpp"

namespace tidemark {
namespace {

// The build calls these; they are not in the help.
constexpr std::string_view kManPage = "__man_page", kBashCompletion = "__bash_completion";

// Prints a verb's footer, which holds its example, before everything else.
class ExampleFirst : public CLI::Formatter {
 public:
  std::string make_description(const CLI::App* app) const override {
    std::string text = app->get_description();
    if (app->get_parent() == nullptr) text = fmt::format("tidemark: {}", text);
    return fmt::format("Example: {}\n\n{}{}", app->get_footer(), text, text.empty() ? "" : "\n");
  }
  std::string make_footer(const CLI::App* app) const override {
    if (app->get_parent() != nullptr) return "";
    std::string text =
        fmt::format("Exit codes, of several the first of {}:\n", exit_code_priority());
    for (const ExitCodeMeaning& meaning : exit_code_meanings())
      text += fmt::format("  {:<3} {}\n", static_cast<int>(meaning.code), meaning.text);
    return text;
  }
};

std::vector<std::string_view> verbs_of(const CLI::App& app) {
  std::vector<std::string_view> names;
  for (const CLI::App* verb : all_verbs(app)) names.push_back(verb->get_name());
  return names;
}

void refuse_unknown_verb(const CLI::App& app, const std::string& verb) {
  const std::vector<std::string_view> names = verbs_of(app);
  if (std::find(names.begin(), names.end(), verb) != names.end()) return;
  const std::string near = did_you_mean(verb, names);
  throw UsageError(fmt::format("there is no verb '{}'; {}", verb,
                               near.empty() ? "'tidemark --help' shows all" : near));
}

bool has_option(const CLI::App& verb, const std::string& name) {
  return verb.get_option_no_throw(name) != nullptr;
}

/// A name behind --html or --json: other programs write there.
bool is_output(std::string_view name) {
  constexpr std::array<std::string_view, 6> kEndings = {".html", ".json", ".md",
                                                        ".csv",  ".xml",  ".txt"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return name.ends_with(ending); });
}

[[noreturn]] void refuse_argument(const CLI::App& verb, const std::string& extra) {
  const std::string what_to_do =
      has_option(verb, "--cases") && case_named(extra) != nullptr
          ? fmt::format("use --cases '{}'", extra)
      : has_option(verb, "--json") && is_output(extra)
          ? fmt::format("it writes to stdout: use '> {}'", extra)
          : fmt::format("'tidemark {} --help' shows what it takes", verb.get_name());
  throw UsageError(fmt::format("{} takes no '{}'; {}", verb.get_name(), extra, what_to_do));
}

[[noreturn]] void refuse_before_verb(const CLI::App& app, const std::string& option) {
  if (const std::string instead = in_place_of("", option); !instead.empty())
    throw UsageError(fmt::format("there is no option {}; {}", option, instead));
  for (const CLI::App* verb : all_verbs(app))
    if (has_option(*verb, option))
      throw UsageError(fmt::format("{} is an option of a verb; type 'tidemark {} {} ...'", option,
                                   verb->get_name(), option));
  if (const std::string instead = in_place_of("run", option); !instead.empty())
    throw UsageError(
        fmt::format("there is no option {}; behind 'tidemark run' {}", option, instead));
  throw UsageError(fmt::format("there is no option {}; 'tidemark --help' shows all", option));
}

[[noreturn]] void refuse_extra(const CLI::App& verb, const std::string& extra) {
  const std::string option = extra.substr(0, extra.find('='));
  if (verb.get_parent() == nullptr) refuse_before_verb(verb, option);
  if (const std::string instead = in_place_of(verb.get_name(), option); !instead.empty())
    throw UsageError(fmt::format("{} has no option {}; {}", verb.get_name(), option, instead));
  if (extra.rfind('-', 0) != 0) refuse_argument(verb, extra);
  std::vector<std::string> names;
  for (const CLI::Option* known : verb.get_options()) {
    for (const std::string& name : known->get_lnames()) names.push_back("--" + name);
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string near = did_you_mean(option, views);
  throw UsageError(fmt::format(
      "{} has no option {}; {}", verb.get_name(), option,
      near.empty() ? fmt::format("'tidemark {} --help' shows all", verb.get_name()) : near));
}

void add_verbs(CLI::App& app, Action& chosen, int argc, char** argv) {
  add_run(app, chosen, argc, argv);
  add_bench(app, chosen, argc, argv);
  add_list(app, chosen);
  add_show(app, chosen);
  add_replay(app, chosen);
  add_fuzz(app, chosen);
  add_compare(app, chosen);
  add_history(app, chosen);
  add_export(app, chosen);
  add_anonymize(app, chosen);
  add_recover(app, chosen);
  add_schema(app, chosen);
  add_predict(app, chosen);
  add_doctor(app, chosen);
  add_selftest(app, chosen);
  add_version(app, chosen);
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    // Given twice, the last one counts, so that a script can be overridden at its end.
    for (CLI::Option* option : verb->get_options()) {
      if (option->get_items_expected_max() == 1)
        option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
      // An unset variable of a script must not quietly mean the default.
      if (option->get_items_expected_max() >= 1)
        option->check([](const std::string& value) {
          return value.empty() ? std::string("the value is empty; give one, or leave it out") : "";
        });
    }
  }
}

}  // namespace

std::vector<const CLI::App*> all_verbs(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

ExitCode run_command_line(int argc, char** argv,
                          const std::function<ExitCode(const Action&)>& act) {
  CLI::App app(std::string(build_version().description));
  app.name("tidemark");
  app.footer("mpirun -n 8 tidemark run");
  app.set_version_flag("-V,--version", fmt::format("tidemark {}", build_version().version));
  app.formatter(std::make_shared<ExampleFirst>());
  app.require_subcommand(0, 1);  // a second verb is an argument of the first, which refuses it
  Action chosen;
  add_verbs(app, chosen, argc, argv);

  if (argc < 2) {
    write_error(app.help());
    return ExitCode::usage;
  }
  const std::string first = argv[1];
  if (first == kManPage || first == kBashCompletion) {
    print_out(first == kManPage ? man_page(app) : bash_completion(app));
    return ExitCode::ok;
  }
  if (first == "help") {
    char option[] = "--help";
    std::array<char*, 3> asked = {argv[0], argc > 2 ? argv[2] : option, option};
    return run_command_line(argc > 2 ? 3 : 2, asked.data(), act);
  }
  if (first.rfind('-', 0) != 0) refuse_unknown_verb(app, first);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    print_out(app.help());
    return ExitCode::ok;
  } catch (const CLI::CallForVersion& version) {
    print_out(fmt::format("{}\n", version.what()));
    return ExitCode::ok;
  } catch (const CLI::ExtrasError&) {
    const std::vector<CLI::App*> verbs = app.get_subcommands();
    const CLI::App& where = verbs.empty() ? app : *verbs.front();
    const std::vector<std::string> extras = app.remaining(true);
    if (extras.empty()) throw;
    refuse_extra(where, extras.front());
  } catch (const CLI::ParseError& error) {
    const std::string verb = app.get_subcommands().empty()
                                 ? std::string()
                                 : app.get_subcommands().front()->get_name() + ' ';
    throw UsageError(
        fmt::format("{}{}; 'tidemark {}--help' shows what it takes", verb, error.what(), verb));
  }
  if (!chosen) throw UsageError("no verb was given; 'tidemark --help' shows all");
  return act(chosen);
}

}  // namespace tidemark
