// Writes the descriptions that CLI11 holds as roff.
#include "harness/command_line/man_page.hpp"

#include <set>
#include <string_view>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "harness/command_line/command_line.hpp"
#include "harness/version.hpp"

namespace tidemark::harness {
namespace {

// Text that roff prints as it stands. A plain - would become a hyphen, which nobody can paste into
// a shell.
std::string escaped(std::string_view text) {
  std::string made;
  if (text.starts_with('.') || text.starts_with('\'')) made = "\\&";  // else a request of roff
  for (const char letter : text) {
    switch (letter) {
      case '\\':
        made += "\\e";
        break;
      case '-':
        made += "\\-";
        break;
      case '\'':
        made += "\\(aq";
        break;
      case '`':
        made += "\\(ga";
        break;
      case '~':
        made += "\\(ti";
        break;
      case '^':
        made += "\\(ha";
        break;
      default:
        made += letter;
    }
  }
  return made;
}

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::string heading(const CLI::Option& option) {
  const bool positional = option.get_positional();
  std::string made = fmt::format(
      "\\fB{}\\fR", escaped(positional ? option.get_name(true) : option.get_name(false, true)));
  if (takes_value(option)) made += fmt::format(" \\fI{}\\fR", escaped(option.get_type_name()));
  if (option.get_items_expected_max() > 1) made += " ...";
  if (option.get_required()) made += " (required)";
  return made;
}

std::string excluded_by(const CLI::Option& option) {
  std::set<std::string> names;  // CLI11's own set is in the order of addresses
  for (const CLI::Option* other : option.get_excludes()) names.insert(other->get_name());
  return names.empty() ? "" : fmt::format(" Not with {}.", fmt::join(names, ", "));
}

std::string description_of(const CLI::Option& option) {
  const std::string& text = option.get_description();
  const std::string excluded = excluded_by(option);
  return escaped(excluded.empty() ? text : text + "." + excluded);
}

std::string options_of(const CLI::App& app) {
  std::string made;
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_positional() == positional)
        made += fmt::format(".TP\n{}\n{}\n", heading(*option), description_of(*option));
    }
  }
  return made;
}

std::string example_of(const CLI::App& app) {
  return fmt::format(".PP\nExample:\n.PP\n.RS 4\n.EX\n{}\n.EE\n.RE\n", escaped(app.get_footer()));
}

std::string section_of(const CLI::App& verb) {
  return fmt::format(".SS tidemark {}\n{}\n{}{}", verb.get_name(), escaped(verb.get_description()),
                     options_of(verb), example_of(verb));
}

std::string exit_status() {
  std::string made = fmt::format(".SH EXIT STATUS\nOf several codes the first of {} counts.\n",
                                 exit_code_priority());
  for (const ExitCodeMeaning& meaning : exit_code_meanings())
    made +=
        fmt::format(".TP\n\\fB{}\\fR\n{}\n", static_cast<int>(meaning.code), escaped(meaning.text));
  return made;
}

}  // namespace

std::string man_page(const CLI::App& app) {
  const std::string version = escaped(build_version().version);
  const std::string what = escaped(app.get_description());
  std::string made = fmt::format(
      ".TH TIDEMARK 1 \"\" \"tidemark {}\" \"User Commands\"\n"
      ".SH NAME\ntidemark \\- {}\n"
      ".SH SYNOPSIS\n\\fBtidemark\\fR \\fIVERB\\fR [\\fIOPTIONS\\fR]\n"
      ".SH OPTIONS\n{}{}"
      ".SH VERBS\n",
      version, what, options_of(app), example_of(app));
  for (const CLI::App* verb : all_verbs(app)) made += section_of(*verb);
  return made + exit_status() + ".SH SEE ALSO\n.BR mpirun (1)\n";
}

}  // namespace tidemark::harness
