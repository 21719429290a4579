// A report while it is being made of records.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "reports/store/assemble/anonymise.hpp"
#include "reports/store/assemble/heard_results.hpp"
#include "reports/store/report.hpp"

namespace tidemark::reports {

/// The rows so far, and the text they refer to; with a disguise every free text passes through it.
struct Assembly {
  Report report;
  std::optional<Disguise> disguise;
  std::unordered_map<std::string, std::uint32_t> indices;  // by the text as it came
  std::unordered_map<std::string, std::uint32_t> stored;   // by the text as it is kept

  /// Index of text that names nobody: names of cases and metrics, keys.
  std::uint32_t plain(const std::string& text);
  /// Index of any other text.
  std::uint32_t text(const std::string& text);
  /// A name of this kind, disguised where the report is to be anonymous.
  std::string hidden(std::string_view kind, const std::string& name) const;
};

/// Lets waivers change the results that are there, and says in provenance what came of each.
void apply_waivers(Assembly& made, const HeardLaunch& all);

/// Adds a result for every planned pair of case and GPU, whether or not anything was heard of it,
/// with its miscompares, metrics and samples. `why_ended` is said where nothing was heard.
void add_results(Assembly& made, const HeardLaunch& all, HeardResults& heard,
                 const std::string& why_ended);

}  // namespace tidemark::reports
