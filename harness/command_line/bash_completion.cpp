// Writes what CLI11 knows of each verb as tables of a shell script; the rest of the script reads
// them.
#include "harness/command_line/bash_completion.hpp"

#include <string_view>
#include <vector>

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include "harness/command_line/command_line.hpp"

namespace tidemark::harness {
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

}  // namespace tidemark::harness
