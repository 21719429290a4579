// What is known of the terminal that output goes to.
#pragma once

#include <cstdint>

namespace tidemark::harness {

/// Whether stdout takes colours: a terminal, no `refused`, no NO_COLOR (https://no-color.org: set
/// and not empty).
bool colour_wanted(bool refused);

/// Columns of a line: COLUMNS where it is a number from 1 to 10,000, else what the terminal behind
/// `descriptor` says (1: stdout), else `otherwise`.
std::uint32_t terminal_columns(std::uint32_t otherwise, int descriptor = 1);

}  // namespace tidemark::harness
