// What a user may have meant by a mistyped name, or by a word of another tool.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tidemark {

// Finds what the user may have meant: the names nearest to a mistyped one.

/// Insertions, deletions, replacements and exchanges of neighbours that turn `pattern` into `name`;
/// a `*` in the pattern stands for any text and a `?` for any character, both free.
std::size_t edit_distance(std::string_view pattern, std::string_view name);

/// "did you mean 'a', 'b'?": the nearest of `names`, at most `count` that are equally near. Empty
/// when the nearest is further away than half the pattern's length.
std::string did_you_mean(std::string_view pattern, std::span<const std::string_view> names,
                         std::size_t count = 3);

// Words that people bring along from other tools, and what to type here.

/// "use --cases GLOB" for `--filter` of the verb run: what to type in the place of an option, or
/// empty where no other tool is known to have it. `verb` is empty before the verb.
std::string in_place_of(std::string_view verb, std::string_view option);

}  // namespace tidemark
