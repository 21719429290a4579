// tidemark show: prints a report.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/render/show.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

struct Typed {
  std::string file;
  bool json = false, all = false, no_color = false;
};

// https://no-color.org: set and not empty.
bool colour_wanted(bool no_color) {
  const char* const variable = std::getenv("NO_COLOR");
  const bool refused = no_color || (variable != nullptr && *variable != '\0');
  return !refused && isatty(STDOUT_FILENO) == 1;
}

ExitCode show_file(const Typed& typed) {
  std::error_code error;
  if (std::filesystem::is_directory(typed.file, error))
    throw UsageError(fmt::format(
        "'{}' is a folder, not a report; of a launch's journals 'tidemark recover' makes one",
        typed.file));
  Protection protection{};
  const Report report = read_report(typed.file, protection);
  if (!note_of(protection).empty()) fmt::print(stderr, "{}\n", note_of(protection));
  print_out(show(report,
                 {.colour = colour_wanted(typed.no_color), .all = typed.all, .json = typed.json}));
  return ExitCode::ok;
}

}  // namespace

void add_show(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("show", "Show a report");
  verb->footer("tidemark show night.h5");
  auto typed = std::make_shared<Typed>();
  verb->add_option("file", typed->file, "The report")->required()->type_name("FILE");
  verb->add_flag("--json", typed->json, "As JSON");
  verb->add_flag("--all", typed->all, "Passes too");
  verb->add_flag("--no-color", typed->no_color, "Plain text on a terminal too");
  verb->callback([typed, &chosen] { chosen = [typed] { return show_file(*typed); }; });
}

}  // namespace tidemark
