// Shell-style patterns for names of cases, GPUs and machines.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::reports {

/// Match with * and ?; the whole name must match.
bool glob_matches(const std::string& glob, std::string_view name);

}  // namespace tidemark::reports
