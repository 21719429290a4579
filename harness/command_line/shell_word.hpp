// Paths in commands that tidemark prints for its users to run.
#pragma once

#include <string>

#include "harness/room.hpp"

namespace tidemark::harness {

/// `text` as one word of a POSIX shell: as it is, or in single quotes.
std::string shell_word(const std::string& text);

}  // namespace tidemark::harness
