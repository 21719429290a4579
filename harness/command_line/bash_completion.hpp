// The bash completion, made of the same descriptions as the help.
#pragma once

#include <string>

#include "harness/verbs/verbs.hpp"

namespace tidemark::harness {

/// A script for bash 4 and later: verbs, their options, and values of known kind (files, cases,
/// fixed words).
std::string bash_completion(const CLI::App& app);

}  // namespace tidemark::harness
