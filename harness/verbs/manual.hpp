// The man page and the bash completion, made of the same descriptions as the help.
#pragma once

#include <string>

#include "harness/verbs/verbs.hpp"

namespace tidemark::harness {

// The bash completion, made of the same descriptions as the help.

/// A script for bash 4 and later: verbs, their options, and values of known kind (files, cases,
/// fixed words).
std::string bash_completion(const CLI::App& app);

// The man page, made of the same descriptions as the help.

/// tidemark(1) in roff's man macros: each verb with its options and example, and the exit codes.
std::string man_page(const CLI::App& app);

}  // namespace tidemark::harness
