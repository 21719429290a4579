// Names for sets of GPUs that are short where the set is regular: "node n17, all 8 GPUs".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/compare/pairing.hpp"

namespace tidemark::reports {

/// `gpus`: ascending indices into the pairing. More than a few nodes are counted, not named.
std::string place_of(const Pairing& pairing, const std::vector<std::uint32_t>& gpus);

}  // namespace tidemark::reports
