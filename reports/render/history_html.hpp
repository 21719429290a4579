// The sections of a history's HTML page.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "reports/history/history.hpp"

namespace tidemark::reports {

/// What fits a page that a browser opens at once; `--all` lifts it.
struct HistoryLimits {
  std::size_t events = 100, of_event = 30;
  std::size_t charts = 60;
  std::size_t map_rows = 60, map_columns = 120;
  std::size_t table_rows = 3000;

  static HistoryLimits of(bool all) {
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    return all ? HistoryLimits{kNone, kNone, kNone, kNone, kNone, kNone} : HistoryLimits{};
  }
};

/// "... and 17 more charts: tidemark history --html --all has all"; nothing where there are none.
std::string history_left_out(std::size_t number, std::string_view what);

/// What fails, a map of launches and cases, every case in a table.
std::string html_case_histories(const History& history, const HistoryLimits& limits);

/// A chart a metric, those that changed first, and a table.
std::string html_metric_histories(const History& history, const HistoryLimits& limits);

}  // namespace tidemark::reports
