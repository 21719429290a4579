// Names of cases: what the registry refuses.
#pragma once

#include <string_view>
#include <vector>

#include "suite/case.hpp"

namespace tidemark {

/// True for two or more words with dots between them, each of lower-case letters, digits and
/// underscores and none beginning with an underscore.
bool well_formed_case_name(std::string_view name);

/// `cases` sorted by name. Throws Error where two have one name, and where a name is malformed.
std::vector<Case> sorted_catalogue(std::vector<Case> cases);

}  // namespace tidemark
