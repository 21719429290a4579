// tidemark anonymize: a copy of a report that can be shared.
#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "harness/base/errors.hpp"
#include "harness/base/shell_word.hpp"
#include "harness/command_line/given_report.hpp"
#include "harness/verbs/verbs.hpp"
#include "reports/base/words.hpp"
#include "reports/store/report.hpp"

namespace tidemark::harness {
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

}  // namespace tidemark::harness
