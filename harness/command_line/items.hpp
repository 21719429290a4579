// Lists on the command line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tidemark::harness {

/// The items of a list that was typed in one argument or in several, divided by commas and white
/// space. Throws UsageError where an argument has none: an empty variable of a script must not
/// stand for "all".
std::vector<std::string> items_of(std::string_view option, const std::vector<std::string>& typed);

}  // namespace tidemark::harness
