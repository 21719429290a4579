// Names for sets of GPUs and cases that are short where the set is regular: "node n17, all 8 GPUs".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reports/compare/pairing.hpp"

namespace tidemark::reports {

/// `gpus`: ascending indices into the pairing. More than a few nodes are counted, not named.
std::string place_of(const Pairing& pairing, const std::vector<std::uint32_t>& gpus);

/// "load.tile.rank1", "load.tile.rank1 and 3 more cases", "all 28 cases".
std::string cases_of(const Pairing& pairing, const std::vector<std::uint32_t>& cases);

}  // namespace tidemark::reports
