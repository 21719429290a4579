// Lists of numbers for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tidemark::reports {

/// "0-3, 7" of ascending numbers.
std::string ranges(const std::vector<std::uint32_t>& numbers);

/// "0-3, 7 and 504 more": the first `most` ranges.
std::string first_ranges(const std::vector<std::uint32_t>& numbers, std::size_t most);

}  // namespace tidemark::reports
