// Reads JSON of files that anybody may have written: what the parser takes without a word is
// refused with one line.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace tidemark {

using Json = nlohmann::ordered_json;

/// Throws Error: `file`, the place (a JSON pointer) and `what` is wrong there.
[[noreturn]] void refuse_at(const std::string& file, const std::string& pointer,
                            const std::string& what);

/// A value of the file in a message: short, and without control characters.
std::string shown(const Json& value);

/// Parses `text`. Throws Error with one line that ends in `advice`: no JSON, a NUL, more than four
/// values in each other, a member given twice, more than 64 members in an object, a number beyond
/// all.
Json parse_guarded(std::string_view text, const std::string& file, std::string_view advice);

}  // namespace tidemark
