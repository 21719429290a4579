// The sections of a report's HTML page.
#pragma once

#include <string>

#include "reports/store/report.hpp"

namespace tidemark::reports {

/// What fits a page that a browser opens at once; `--all` lifts it.
struct HtmlLimits {
  std::size_t findings = 300;
  std::size_t map_rows = 64, map_columns = 240;
  std::size_t plots = 60;
  std::size_t sm_maps = 32;
  std::size_t table_rows = 3000;

  static HtmlLimits of(bool all) {
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    return all ? HtmlLimits{kNone, kNone, kNone, kNone, kNone, kNone} : HtmlLimits{};
  }
};

/// "... and 17 more cases: tidemark show --html --all has them"; nothing where there are none.
std::string html_left_out(std::size_t number, std::string_view what);

/// Nodes (few GPUs: each GPU) against cases.
std::string html_map(const Report& report, const HtmlLimits& limits);

/// Which SMs rows visited, and where rows failed: a map a GPU. Empty where no SM is known.
std::string html_sms(const Report& report, const HtmlLimits& limits);

/// Every case with its verdicts, as a table.
std::string html_cases(const Report& report, const HtmlLimits& limits);

/// What was measured: a strip plot a metric, and a table.
std::string html_measured(const Report& report, const HtmlLimits& limits);

}  // namespace tidemark::reports
