// Two sides of synthetic launches, for tests of what compare says of them.
#pragma once

#include <cstdint>
#include <vector>

#include "reports/compare/comparison.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark {

/// Quiet enough that each verdict follows from the change that a test makes.
inline const SyntheticFleet kFleet = {
    .gpus = 16, .cases = 12, .seed = 3, .noise = {.launch = 0.001, .odd_launches = 0}};

inline std::vector<Report> launches_of(const SyntheticFleet& fleet, bool fresh,
                                       const FleetChange& change = {}, std::uint32_t launches = 5) {
  std::vector<Report> made;
  for (std::uint32_t i = 0; i < launches; ++i) {
    made.push_back(synthetic_launch(fleet, i, fresh, change));
  }
  return made;
}

inline std::vector<Report> side(bool fresh, const FleetChange& change = {},
                                std::uint32_t launches = 5) {
  return launches_of(kFleet, fresh, change, launches);
}

inline std::vector<LaunchFacts> facts(const std::vector<Report>& reports) {
  std::vector<LaunchFacts> made;
  for (const Report& report : reports) made.push_back(facts_of(report, report.launch.run_id));
  return made;
}

inline Comparison held(const std::vector<Report>& base, const std::vector<Report>& fresh,
                       const CompareOptions& options = {}) {
  return compare_launches(facts(base), facts(fresh), options);
}

inline ResultRow& result_of(Report& report, std::uint32_t which, std::uint32_t gpu) {
  return report.results[which * report.gpus.size() + gpu];
}

}  // namespace tidemark
