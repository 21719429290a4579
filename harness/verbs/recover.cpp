// tidemark recover: makes a report of the journals that a launch left behind.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/base/errors.hpp"
#include "harness/base/output.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/base/disk.hpp"
#include "reports/document/report/document.hpp"
#include "reports/journal/journal.hpp"
#include "reports/render/page.hpp"
#include "reports/store/replace_file.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

struct TypedRecover {
  std::string folder, out;
  bool anonymize = false;
};

constexpr std::string_view kSuffix = ".run";

// The folder itself; X.h5 is understood as X.h5.run.
fs::path journals_of(std::string given) {
  while (given.size() > 1 && given.back() == '/') given.pop_back();
  if (is_there(given + "/.")) return given;
  const std::string beside = given + std::string(kSuffix);
  if (is_there(beside + "/.")) return beside;
  throw UsageError(fmt::format(
      "'{}' is no folder of journals; give the X.h5.run that a launch left beside its report",
      given));
}

// Where the launch itself would have written it.
std::string report_beside(const fs::path& folder) {
  const std::string name = folder.string();
  const bool named = name.size() > kSuffix.size() && name.ends_with(kSuffix);
  return named ? name.substr(0, name.size() - kSuffix.size()) : name + ".h5";
}

fs::path report_of(const fs::path& folder, const std::string& given) {
  const std::string out = given.empty() ? report_beside(folder) : given;
  if (is_there(out))
    throw UsageError(fmt::format("'{}' exists; choose another name with --out", out));
  return out;
}

/// A launch that still runs makes its own report, and has outcomes yet to come.
void refuse_live(const fs::path& folder) {
  const std::string journal = journal_in_use(folder.string());
  if (journal.empty()) return;
  throw UsageError(fmt::format(
      "'{}': this launch is still running ({} is in use); it makes its own report: wait for its "
      "end, or stop it with Ctrl-C",
      folder.string(), fs::path(journal).filename().string()));
}

Report report_in(const fs::path& folder, bool anonymize) {
  const Journals journals = read_journals(folder.string());
  try {
    return assemble(journals, {.anonymize = anonymize, .incomplete_reason = {}});
  } catch (const ReportError& error) {
    if (std::string_view(error.what()).starts_with(folder.string())) throw;  // a file
    // What it says is about the journals, and they came without a name.
    throw UsageError(fmt::format("'{}': {}; run that launch again, or give the folder of another",
                                 folder.string(), error.what()));
  }
}

/// A launch that was to leave nothing but an anonymized report leaves no other one when it is
/// killed.
bool was_anonymized(const Report& report) {
  return std::any_of(report.provenance.begin(), report.provenance.end(), [&](const auto& row) {
    const std::string_view value = report.text(row.value);
    return report.text(row.key).starts_with("argument.") &&
           (value == "--anonymize" || value == "--anonymise");
  });
}

ExitCode recover(const TypedRecover& typed) {
  const fs::path folder = journals_of(typed.folder);
  remove_left_behind(report_beside(folder));  // where rank 0 and its reporter were killed
  const fs::path out = report_of(folder, typed.out);
  refuse_live(folder);
  Report report = report_in(folder, typed.anonymize);
  if (!typed.anonymize && was_anonymized(report)) report = anonymized(std::move(report));
  write_report(report, out.string());
  print_out(fmt::format(
      "report: {} ({} results of {} cases on {} GPUs, {})\nnext: tidemark show {}\n",
      printable(out.string()), report.results.size(), report.cases.size(), report.launch.gpus,
      report.launch.complete ? "complete"
                             : "incomplete: " + printable(report.launch.incomplete_reason),
      shell_word(out.string())));
  return exit_code(report, true);  // only a strict launch has an unexpected pass in its report
}

}  // namespace

void add_recover(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("recover", "Make a report of an interrupted launch");
  verb->footer("tidemark recover night.h5.run");
  auto typed = std::make_shared<TypedRecover>();
  verb->add_option("folder", typed->folder, "The journals, X.h5.run")->required()->type_name("DIR");
  verb->add_option("--out", typed->out, "The report (X.h5)")->type_name("FILE");
  verb->add_flag("--anonymize,--anonymise", typed->anonymize,
                 "Hash hosts, serials and UUIDs; leave out texts of other programs");
  verb->callback([typed, &chosen] { chosen = [typed] { return recover(*typed); }; });
}

}  // namespace tidemark
