// An output that replaces a file in one step.
#pragma once

#include <string>
#include <string_view>

namespace tidemark::harness {

/// Throws UsageError where a rename would put a plain file in the place of what `path` names,
/// whatever that was. `otherwise`: "or no --out".
void check_replaceable(const std::string& path, std::string_view otherwise,
                       std::string_view option = "--out");

}  // namespace tidemark::harness
