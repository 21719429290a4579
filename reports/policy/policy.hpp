// What the owner of a fleet has decided: what fails, what is small, what is known. One JSON file,
// read here for every verb that takes --policy.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/compare/speed/speed.hpp"
#include "reports/schema/waiver.hpp"

namespace tidemark {

struct Policy {
  std::optional<std::vector<std::string>> fail_on;            // names of findings of compare
  std::optional<std::vector<std::string>> allow_confounders;  // names of factors
  std::optional<double> floor;                                // 0.01 for 1 %
  std::vector<CaseFloor> floors;                              // the last that matches counts
  std::vector<Waiver> waivers;
};

/// Throws ReportError with one line: the file, the place in it (a JSON pointer), what is wrong and
/// what to do. Nothing is ignored: a key that is not known is an error.
Policy read_policy(const std::string& path);

/// The same of text; `name` is what the line starts with.
Policy policy_of(const std::string& text, const std::string& name);

}  // namespace tidemark
