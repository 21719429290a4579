// Why the clocks of a GPU were held down, where that says something of its health.
#pragma once

#include <cstdint>
#include <string>

namespace tidemark::reports {

/// Whether NVML's clock event reasons hold one that says that the GPU is too hot or short of power.
bool throttling_in(std::uint64_t reasons);

/// These reasons in words; "none" where there are none, empty where NVML refused to give them.
std::string text_of_throttling(std::uint64_t reasons);

}  // namespace tidemark::reports
