// Lists of numbers for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::reports {

/// "0-3, 7" of ascending numbers.
std::string ranges(const std::vector<std::uint32_t>& numbers);

}  // namespace tidemark::reports
