// A history as text for a terminal, as JSON, Markdown, CSV, JUnit XML and as an HTML page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/history/history.hpp"

namespace tidemark::reports {

struct ShowHistoryOptions {
  bool colour = false;
  bool all = false;  // every list in full; terminal and HTML
  std::size_t columns = 100;
  std::vector<std::string> refused = {};  // a line for each file that could not be read
};

/// What fails first, then what changed, the newest first, with what else changed at that time.
std::string show_history(const History& history, const ShowHistoryOptions& options);

/// Launches with their setup, every series with its values, changes, cases.
std::string history_json(const History& history, const ShowHistoryOptions& options);

/// A line a value: launch x metric x GPU, and the typical GPU ("all"); then launch x case.
std::string history_csv(const History& history);

/// In short, less than 60,000 bytes: cases that fail, changes, how every metric went.
std::string history_markdown(const History& history, const ShowHistoryOptions& options);

/// A test a case as the newest launches left it: failing is a failure; open and lacking are errors;
/// waived, skipped and everything of the virtual device are skipped. Changes of speed are advice
/// and no test.
std::string history_junit(const History& history);

/// One page that needs nothing else: a line chart a metric, tables, the cases as a map.
std::string history_html(const History& history, const ShowHistoryOptions& options);

/// "1 launch", "60 launches".
std::string launches_text(std::size_t number);

/// "-2.1 %" of a natural logarithm.
std::string step_text(double step);

/// "650.1 -> 636.5 TFLOP/s".
std::string levels_text(const History& history, const LevelChange& change);

/// "the typical GPU", "GPU 3 (n07, GPU-5f1c2d3e) apart from the others".
std::string gpu_text(const History& history, const LevelChange& change);

/// "driver 580.105.08 -> 590.44.01; nccl 2.28.3 -> 2.29.1"; "nothing that was recorded" without
/// any.
std::string setup_text(const std::vector<SetupChange>& setup, std::size_t most);

/// "GPU 3 (n07, GPU-5f1c2d3e)" of an index into Chronicle::gpus.
std::string gpu_name(const History& history, std::uint32_t gpu);

/// "2026-09-01T00:00:00Z night-3.h5: gemm.local.speed by 3%": a line each launch that was slowed on
/// purpose, the newest first.
std::vector<std::string> slowed_launches(const History& history);

/// "2 failing, 0 open, 1 waived, 1 lacking, 3 failed before, 106 never failed".
std::string cases_summary(const History& history);

/// "3 of 34 metrics changed, 29 steady, 2 with fewer than 6 launches".
std::string metrics_summary(const History& history);

}  // namespace tidemark::reports
