// What was not the same in two launches apart from what they measured: driver, VBIOS, git hash, ...
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "reports/history/chronicle.hpp"

namespace tidemark::reports {

struct SetupChange {
  std::string factor, before, after;  // "driver"; values, several with commas; "unknown"
};

/// Factors that differ between more than half of all neighbouring launches (of four or more), such
/// as a job's number: that one of them differs says nothing.
std::set<std::string> restless_factors(const Chronicle& all);

/// Driver first. With `gpu`, an index into Chronicle::gpus, only its own setup is looked at, else
/// that of all GPUs. The seed is no setup; names are not compared where one of the reports is
/// anonymised.
std::vector<SetupChange> setup_changes(const Chronicle& all, const std::set<std::string>& restless,
                                       std::uint32_t before, std::uint32_t after,
                                       std::uint32_t gpu = kNoRow);

/// The value of one factor in one launch: "580.105.08", "580.105.08, 590.44.01"; empty where not
/// known.
std::string setup_value(const Chronicle& all, std::uint32_t launch, std::string_view factor);

}  // namespace tidemark::reports
