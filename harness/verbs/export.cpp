// tidemark export, schema and anonymize: reports for monitoring, other programs and other people.
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/command_line/given_report.hpp"
#include "harness/command_line/option_values.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/base/words.hpp"
#include "reports/compare/speed/references.hpp"
#include "reports/export/export.hpp"
#include "reports/schema/tables.hpp"
#include "reports/store/replace_file.hpp"
#include "reports/store/report.hpp"

namespace tidemark {

namespace {

struct TypedExport {
  std::vector<std::string> files;
  std::string format, out;
  bool all = false;
};

using Export = Exported (*)(const std::vector<std::string>& files);

template <auto made>
Exported of_one(const std::vector<std::string>& files) {
  if (files.size() != 1) throw UsageError("this format takes one report; give one");
  const Report report = given_report(files.front());
  try {
    return Exported{made(report)};
  } catch (const ReportError& error) {
    throw ReportError(fmt::format("{}: {}", files.front(), error.what()));
  }
}

Exported references_of(const std::vector<std::string>& files) {
  std::vector<LaunchFacts> launches;
  launches.reserve(files.size());
  for (const std::string& file : files) launches.push_back(facts_of(given_report(file), file));
  return {references_json(launches)};
}

struct ExportFormat {
  std::string_view name;
  Export made;
  std::string_view meaning;
};

constexpr auto kExportFormats = std::to_array<ExportFormat>({
    {"prometheus", of_one<prometheus_of>,
     "text format 0.0.4, for node_exporter's textfile collector"},
    {"ocp", of_one<ocp_of>, "lines of the OCP Test & Validation output specification 2.0"},
    {"drain", of_one<drain_of>, "host, UUID and reason of each GPU that no job should get"},
    {"references", references_of,
     "percentiles of each metric by GPU model, as JSON for compare --references"},
});

std::vector<std::string_view> format_names() {
  std::vector<std::string_view> names;
  names.reserve(kExportFormats.size());
  for (const ExportFormat& format : kExportFormats) names.push_back(format.name);
  return names;
}

std::string format_meanings() {
  std::string made;
  for (const ExportFormat& format : kExportFormats)
    made += fmt::format("{}{}: {}", made.empty() ? "" : "; ", format.name, format.meaning);
  return made;
}

Export export_of(const std::string& name) {
  for (const ExportFormat& format : kExportFormats)
    if (format.name == name) return format.made;
  const std::vector<std::string_view> names = format_names();
  const std::string near = did_you_mean(name, names);
  throw UsageError(
      fmt::format("--format '{}': {}", name,
                  near.empty() ? fmt::format("give {}", fmt::join(names, " or ")) : near));
}

void check_out(const TypedExport& typed) {
  check_replaceable(typed.out, "a file, or no --out");
  std::error_code error;
  for (const std::string& file : typed.files) {
    if (!std::filesystem::equivalent(typed.out, file, error)) continue;
    throw UsageError(fmt::format("--out '{}': is the report itself; give another file", typed.out));
  }
}

ExitCode export_report(const TypedExport& typed) {
  Export made = export_of(typed.format);
  if (typed.all && typed.format != "prometheus")
    throw UsageError(fmt::format("--all is for --format prometheus; {} has all", typed.format));
  if (typed.all) made = of_one<all_prometheus_of>;
  if (!typed.out.empty()) check_out(typed);
  const Exported exported = made(typed.files);
  if (typed.out.empty()) {
    print_out(exported.text);
  } else {
    replace_file(typed.out, exported.text);
  }
  for (const std::string& what : exported.left_out)
    print_error(fmt::format("{}: {}", typed.files.front(), what));
  return exported.left_out.empty() ? ExitCode::ok : ExitCode::incomplete;
}

}  // namespace

void add_export(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("export", "Write reports for other programs");
  verb->footer(
      "tidemark export night.h5 --format prometheus --out "
      "/var/lib/node_exporter/textfile/tidemark.prom");
  auto typed = std::make_shared<TypedExport>();
  verb->add_option("file", typed->files, "The report; for references several")
      ->required()
      ->type_name("FILE");
  verb->add_option("--format", typed->format, format_meanings())
      ->required()
      ->type_name(fmt::format("{}", fmt::join(format_names(), "|")));
  verb->add_flag("--all", typed->all,
                 "prometheus: cases that passed, too, and spread and number of samples");
  verb->add_option("--out", typed->out, "Replace this file in one step (stdout)")
      ->type_name("FILE");
  verb->callback([typed, &chosen] { chosen = [typed] { return export_report(*typed); }; });
}

// tidemark schema: prints what the tables of a report hold.

void add_schema(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("schema", "Describe the tables of a report");
  verb->footer("tidemark schema --json");
  auto json = std::make_shared<bool>(false);
  verb->add_flag("--json", *json, "As JSON");
  verb->callback([json, &chosen] {
    chosen = [json] {
      print_out(*json ? schema_json() : schema_text());
      return ExitCode::ok;
    };
  });
}

// tidemark anonymize: a copy of a report that can be shared.

namespace {

struct TypedAnonymize {
  std::string file, out;
};

ExitCode anonymize(const TypedAnonymize& typed) {
  std::error_code error;
  if (std::filesystem::exists(std::filesystem::symlink_status(typed.out, error)))
    throw UsageError(fmt::format("'{}' exists; choose another name with --out", typed.out));
  write_report(anonymized(given_report(typed.file)), typed.out);
  print_out(fmt::format("report: {} (anonymized)\nnext: tidemark show {}\n", printable(typed.out),
                        shell_word(typed.out)));
  return ExitCode::ok;
}

}  // namespace

void add_anonymize(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("anonymize", "Copy a report without the names in it");
  verb->footer("tidemark anonymize night.h5 --out shared.h5");
  auto typed = std::make_shared<TypedAnonymize>();
  verb->add_option("file", typed->file, "The report")->required()->type_name("FILE");
  verb->add_option("--out", typed->out,
                   "The copy: hosts, serials and UUIDs hashed, texts of other programs left out")
      ->required()
      ->type_name("FILE");
  verb->callback([typed, &chosen] { chosen = [typed] { return anonymize(*typed); }; });
}

}  // namespace tidemark
