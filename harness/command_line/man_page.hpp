// The man page, made of the same descriptions as the help.
#pragma once

#include <string>

#include "harness/verbs/verbs.hpp"

namespace tidemark::harness {

/// tidemark(1) in roff's man macros: each verb with its options and example, and the exit codes.
std::string man_page(const CLI::App& app);

}  // namespace tidemark::harness
