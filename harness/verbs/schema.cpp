// tidemark schema: prints what the tables of a report hold.
#include "reports/schema/describe.hpp"

#include <memory>

#include <CLI/CLI.hpp>

#include "harness/verbs/verbs.hpp"

namespace tidemark::harness {

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

}  // namespace tidemark::harness
