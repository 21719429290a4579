// tidemark export: a report for monitoring and for test executives.
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/errors.hpp"
#include "harness/nearest.hpp"
#include "harness/verbs/given_report.hpp"
#include "harness/verbs/output_file.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/compare/references.hpp"
#include "reports/export/export.hpp"
#include "reports/store/replace_file.hpp"

namespace tidemark::harness {
namespace {

struct Typed {
  std::vector<std::string> files;
  std::string format, out;
  bool all = false;
};

using Export = std::string (*)(const std::vector<std::string>& files);

template <std::string (*made)(const Report&)>
std::string of_one(const std::vector<std::string>& files) {
  if (files.size() != 1) throw UsageError("this format takes one report; give one");
  const Report report = given_report(files.front());
  try {
    return made(report);
  } catch (const ReportError& error) {
    throw ReportError(fmt::format("{}: {}", files.front(), error.what()));
  }
}

std::string references_of(const std::vector<std::string>& files) {
  std::vector<LaunchFacts> launches;
  launches.reserve(files.size());
  for (const std::string& file : files) launches.push_back(facts_of(given_report(file), file));
  return references_json(launches);
}

constexpr std::array<std::pair<std::string_view, Export>, 4> kFormats = {{
    {"prometheus", of_one<prometheus_of>},
    {"ocp", of_one<ocp_of>},
    {"drain", of_one<drain_of>},
    {"references", references_of},
}};

std::string format_names() {
  std::vector<std::string_view> names;
  names.reserve(kFormats.size());
  for (const auto& [name, made] : kFormats) names.push_back(name);
  return fmt::format("{}", fmt::join(names, "|"));
}

Export export_of(const std::string& format) {
  std::vector<std::string_view> names;
  for (const auto& [name, made] : kFormats) {
    if (name == format) return made;
    names.push_back(name);
  }
  const std::string near = did_you_mean(format, names);
  throw UsageError(
      fmt::format("--format '{}': {}", format,
                  near.empty() ? fmt::format("give {}", fmt::join(names, " or ")) : near));
}

void check_out(const Typed& typed) {
  check_replaceable(typed.out, "a file, or no --out");
  std::error_code error;
  for (const std::string& file : typed.files) {
    if (!std::filesystem::equivalent(typed.out, file, error)) continue;
    throw UsageError(fmt::format("--out '{}': is the report itself; give another file", typed.out));
  }
}

ExitCode export_report(const Typed& typed) {
  Export made = export_of(typed.format);
  if (typed.all && typed.format != "prometheus")
    throw UsageError(fmt::format("--all is for --format prometheus; {} has all", typed.format));
  if (typed.all) made = of_one<all_prometheus_of>;
  if (!typed.out.empty()) check_out(typed);
  const std::string text = made(typed.files);
  if (typed.out.empty()) {
    print_out(text);
  } else {
    replace_file(typed.out, text);
  }
  return ExitCode::ok;
}

}  // namespace

void add_export(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("export", "Write reports for other programs");
  verb->footer(
      "tidemark export night.h5 --format prometheus --out "
      "/var/lib/node_exporter/textfile/tidemark.prom");
  auto typed = std::make_shared<Typed>();
  verb->add_option("file", typed->files, "The report; for references several")
      ->required()
      ->type_name("FILE");
  verb->add_option("--format", typed->format,
                   "prometheus: text format 0.0.4, for node_exporter's textfile collector; ocp: "
                   "lines of the OCP Test & Validation output specification 2.0; drain: host, UUID "
                   "and reason of each GPU that no job should get; references: percentiles of each "
                   "metric by GPU model, as JSON for compare --references")
      ->required()
      ->type_name(format_names());
  verb->add_flag("--all", typed->all,
                 "prometheus: cases that passed, too, and spread and number of samples");
  verb->add_option("--out", typed->out, "Replace this file in one step (stdout)")
      ->type_name("FILE");
  verb->callback([typed, &chosen] { chosen = [typed] { return export_report(*typed); }; });
}

}  // namespace tidemark::harness
