// A report while it is being made of records.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "reports/store/assemble/heard_results.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

/// The rows so far, and the text they refer to.
struct Assembly {
  Report report;
  std::unordered_map<std::string, std::uint32_t> indices;

  std::uint32_t index_of(const std::string& text);
};

/// Lets waivers change the results that are there, and says in provenance what came of each.
void apply_waivers(Assembly& made, const HeardLaunch& all);

/// Adds a result for every planned pair of case and GPU, whether or not anything was heard of it,
/// with its miscompares, metrics and samples. `why_ended` is said where nothing was heard.
void add_results(Assembly& made, const HeardLaunch& all, HeardResults& heard,
                 const std::string& why_ended);

}  // namespace tidemark::reports
