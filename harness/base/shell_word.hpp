// Paths in commands that tidemark prints for its users to run.
#pragma once

#include <string>

#include "harness/room.hpp"

namespace tidemark::harness {

/// `text` as one word of a POSIX shell that can be printed: as it is, in single quotes, or in
/// $'...' where bytes cannot be shown.
std::string shell_word(const std::string& text);

}  // namespace tidemark::harness
