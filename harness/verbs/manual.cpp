// The man page and the bash completion, made of the same descriptions as the help.

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "harness/verbs/verbs.hpp"
#include "harness/version.hpp"

namespace tidemark {

// Writes what CLI11 knows of each verb as tables of a shell script; the rest of the script reads
// them.

namespace {

// What a value is, by the name of its type in the help: `-` where nothing can be offered.
std::string kind_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type == "FILE" || type == "REPORT" || type == "DIR") return "path";
  if (type == "GLOB" || type == "CASE") return "case";
  return type.find('|') == std::string::npos ? "-" : type;
}

std::string names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

// "    run:--cases) echo 'many case' ;;"; arguments without an option have no name behind the
// colon.
std::string line_of(const CLI::App& verb, const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const bool many = option.get_items_expected_max() > 1 && option.get_allow_extra_args();
  return fmt::format("    {}:{}) echo '{} {}' ;;\n", verb.get_name(),
                     option.get_positional() ? "" : option.get_name(), many ? "many" : "one",
                     kind_of(option));
}

constexpr std::string_view kReader = R"sh(
_tidemark_offer() {  # kind or words, what is typed
  local program=${COMP_WORDS[0]}
  [[ $program != \~/* ]] || program=$HOME/${program:2}  # bash leaves the words as typed
  case $1 in
    -) ;;
    path)
      compopt -o filenames 2>/dev/null
      mapfile -t COMPREPLY < <(compgen -f -- "$2")
      ;;
    case)
      mapfile -t COMPREPLY < <(compgen -W "$("$program" list 2>/dev/null |
        sed -n 's/^\([a-z0-9_]*\.[a-z0-9_.]*\) .*/\1/p')" -- "$2")
      ;;
    *) mapfile -t COMPREPLY < <(compgen -W "${1//|/ }" -- "$2") ;;
  esac
}

_tidemark() {
  local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} option='' values=0 at count kind
  COMPREPLY=()
  [ "$word" != = ] || word=''  # bash parts --level=quick into three words
  if [ "$COMP_CWORD" -eq 1 ]; then
    _tidemark_offer "$(_tidemark_verbs)" "$word"
    return
  fi
  if [[ $word == -* ]]; then
    _tidemark_offer "$(_tidemark_options "$verb")" "$word"
    return
  fi
  for ((at = COMP_CWORD - 1; at > 1; at--)); do
    case ${COMP_WORDS[at]} in
      =) ;;
      -*) option=${COMP_WORDS[at]}; break ;;
      *) values=$((values + 1)) ;;
    esac
  done
  read -r count kind <<<"$(_tidemark_values "$verb:$option")"
  if [ -z "$count" ] || { [ "$count" = one ] && [ "$values" -gt 0 ]; }; then
    read -r count kind <<<"$(_tidemark_values "$verb:")"
  fi
  _tidemark_offer "${kind:-$(_tidemark_options "$verb")}" "$word"
}

complete -F _tidemark tidemark
)sh";

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string verbs, options, values;
  for (const CLI::App* verb : all_verbs(app)) {
    verbs += verb->get_name() + ' ';
    options += fmt::format("    {}) echo '{}' ;;\n", verb->get_name(), names_of(*verb));
    for (const CLI::Option* option : verb->get_options()) values += line_of(*verb, *option);
  }
  return fmt::format(
             "# bash completion for tidemark, written by its build.\n"
             "_tidemark_verbs() {{ echo '{}{}'; }}\n\n"
             "_tidemark_options() {{  # verb\n  case $1 in\n{}  esac\n}}\n\n"
             "_tidemark_values() {{  # verb:option, or verb: alone\n  case $1 in\n{}  esac\n}}\n",
             verbs, names_of(app), options, values) +
         std::string(kReader);
}

// Writes the descriptions that CLI11 holds as roff.

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

}  // namespace tidemark
