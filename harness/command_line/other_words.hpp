// Words that people bring along from other tools, and what to type here.
#pragma once

#include <string>
#include <string_view>

#include "harness/room.hpp"

namespace tidemark::harness {

/// "use --cases GLOB" for `--filter` of the verb run: what to type in the place of an option, or
/// empty where no other tool is known to have it. `verb` is empty before the verb.
std::string in_place_of(std::string_view verb, std::string_view option);

}  // namespace tidemark::harness
