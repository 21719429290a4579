// tidemark show: prints a report.
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/given_report.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/replay/given_program.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/compare/speed/outliers.hpp"
#include "reports/render/show.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

struct TypedShow {
  std::string file, fail_on;
  bool all = false, notes = false, no_color = false;
  std::string_view format = kTerminal;
};

std::string replay_command(const Report& report, const std::string& file, std::uint32_t result) {
  if (!has_program(report, result)) return "";
  return fmt::format("tidemark replay {} --result {}", shell_word(file), result);
}

ExitCode show_file(const TypedShow& typed) {
  std::error_code error;
  if (std::filesystem::is_directory(typed.file, error))
    throw UsageError(fmt::format(
        "'{}' is a folder, not a report; of a launch's journals 'tidemark recover' makes one",
        typed.file));
  const bool gated = fails_on_outlier(typed.fail_on);
  const Report report = given_report(typed.file);
  print_out(
      show(report,
           {.colour = colour_wanted(typed.no_color),
            .all = typed.all,
            .notes = typed.notes,
            .columns = terminal_columns(ShowOptions{}.columns),
            .beside = printed_beside,
            .replayed_by =
                [&](std::uint32_t result) { return replay_command(report, typed.file, result); }},
           typed.format));
  return gated && !slower_outliers(report).empty() ? ExitCode::regression : ExitCode::ok;
}

}  // namespace

void add_show(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("show", "Show a report");
  verb->footer("tidemark show night.h5");
  auto typed = std::make_shared<TypedShow>();
  verb->add_option("file", typed->file, "The report")->required()->type_name("FILE");
  add_formats(*verb, typed->format,
              {{"csv", "a line a result, or each of its metrics"},
               {"junit", "a suite a node; a virtual run is skipped"},
               {"html", "tidemark show night.h5 --html > night.html"}});
  verb->add_flag("--all", typed->all, "Passes too, and every list in full (terminal, HTML)");
  verb->add_flag("--notes", typed->notes,
                 "What cases recorded, one by one; none of it is judged (terminal)");
  verb->add_option("--fail-on", typed->fail_on,
                   "Exit code 3 for a GPU slower than the others of its model")
      ->type_name("outlier");
  verb->add_flag("--no-color", typed->no_color, "Plain text on a terminal too");
  verb->callback([typed, &chosen] { chosen = [typed] { return show_file(*typed); }; });
}

}  // namespace tidemark
