// tidemark history: every metric and case over the reports of a folder.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
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
#include "reports/base/words.hpp"
#include "reports/render/show.hpp"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

struct TypedHistory {
  std::vector<std::string> places;
  std::string pair = "uuid";
  double floor_percent = 1;
  std::string_view format = kTerminal;
  bool all = false, no_color = false;
};

// What lies in a folder counts only by its name: journals and logs lie beside reports. `nights`: so
// do the reports in its folders, as ci/nightly keeps them; its links name nights a second time.
void add_folder(std::vector<std::string>& made, const std::string& folder, bool nights) {
  std::error_code error, ignored;
  std::vector<std::string> found;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const bool hidden = at->path().filename().string().starts_with('.');
    const bool night = nights && !hidden && !at->is_symlink(ignored) && at->is_directory(ignored);
    if (at->path().extension() == ".h5") {
      found.push_back(at->path().string());
    } else if (night) {
      add_folder(found, at->path().string(), false);
    }
  }
  if (error)
    throw UsageError(fmt::format("'{}' cannot be listed: {}; give a folder that can be read",
                                 folder, error.message()));
  std::sort(found.begin(), found.end());
  made.insert(made.end(), found.begin(), found.end());
}

std::vector<std::string> files_of(const std::vector<std::string>& places) {
  std::vector<std::string> made;
  for (const std::string& place : places) {
    if (!is_there(place))
      throw UsageError(
          fmt::format("'{}' does not exist; give folders of reports, or reports", place));
    if (std::error_code error; fs::is_directory(place, error)) {
      add_folder(made, place, true);
    } else {
      made.push_back(place);
    }
  }
  return made;
}

/// One launch that seems to come later would be the newest for as long, and hide all that fail
/// until then.
void refuse_future(const LaunchFacts& facts) {
  constexpr auto kClocksDiffer = std::chrono::hours(24);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  const std::chrono::duration<double> latest = now + kClocksDiffer;
  if (!(facts.launch.created_unix_s > latest.count())) return;  // record_launch() refuses NaN
  throw ReportError(fmt::format(
      "{}: its time, {}, is ahead of this machine's clock; leave this report out, or set "
      "the clock",
      facts.path, utc_text(facts.launch.created_unix_s)));
}

// One report in memory at a time: it is far larger than what is kept of it.
Chronicle read_all(const std::vector<std::string>& files, PairBy pair_by,
                   std::vector<std::string>& refused) {
  Chronicle made;
  made.pair_by = pair_by;
  for (const std::string& file : files) {
    try {
      const LaunchFacts facts = facts_of(given_report(file), file);
      refuse_future(facts);
      record_launch(made, facts);
    } catch (const ReportError& error) {
      refused.push_back(printable(error.what()));
      print_error(error.what());
    }
  }
  return made;
}

ExitCode history(const TypedHistory& typed) {
  const PairBy pair_by = pair_by_of(typed.pair);
  const double floor = floor_of(typed.floor_percent);
  const std::vector<std::string> files = files_of(typed.places);
  ShowOptions options{.colour = colour_wanted(typed.no_color),
                      .all = typed.all,
                      .columns = terminal_columns(ShowOptions{}.columns)};
  Chronicle read = read_all(files, pair_by, options.refused);
  if (read.launches.empty())
    throw UsageError(fmt::format("no report in {} ({} looked at); give a folder that holds some",
                                 fmt::join(typed.places, ", "), plural(files.size(), "file")));
  const History made = history_of(std::move(read), {.floor = floor});
  print_out(show_history(made, options, typed.format));
  return ExitCode::ok;
}

}  // namespace

void add_history(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("history", "Show speed and verdicts over many reports");
  verb->footer("tidemark history nightly/");
  auto typed = std::make_shared<TypedHistory>();
  verb->add_option("places", typed->places,
                   "Folders of reports (*.h5 in them and in their folders), or reports")
      ->required()
      ->type_name("DIR");
  add_formats(*verb, typed->format,
              {{"csv", "a line a launch, metric and GPU, then a line a launch and case"},
               {"junit", "a test a case, as the newest launches left it"},
               {"html", "tidemark history nightly/ --html > history.html"}});
  verb->add_option("--floor", typed->floor_percent,
                   "Least change of speed that is told, percent (1)")
      ->transform(without_percent_sign)
      ->type_name("PERCENT");
  verb->add_option("--pair", typed->pair,
                   "Which GPUs of two reports are the same: those of one uuid or number")
      ->type_name("uuid|number");
  verb->add_flag("--all", typed->all, "Every list in full (terminal, HTML)");
  verb->add_flag("--no-color", typed->no_color, "Plain text on a terminal too");
  verb->callback([typed, &chosen] { chosen = [typed] { return history(*typed); }; });
}

}  // namespace tidemark
