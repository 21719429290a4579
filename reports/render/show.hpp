// A report as text: for a terminal, for programs, for other pages.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "reports/store/report.hpp"

namespace tidemark::reports {

enum class Format : std::uint8_t { terminal, json, markdown, csv, junit, html };

/// What a metric is printed beside. A report does not hold it: it follows from the metric's name.
struct PrintedBeside {
  std::string over = {};          // the metric of the same case that the gain is over; empty: none
  double published = 0;           // what others reached, in the metric's unit; 0: nothing
  std::string published_by = {};  // who, said below the table
};

struct ShowOptions {
  bool colour = false;
  bool all = false;    // passes too, and nothing capped; terminal and HTML
  bool notes = false;  // what cases recorded, one by one
  Format format = Format::terminal;
  std::uint32_t columns = 100;  // of the terminal
  /// Of a case and one of its metrics; terminal only. Without it nothing is printed beside.
  std::function<PrintedBeside(std::string_view, std::string_view)> beside = {};

  /// Of a result that did not pass: the command that runs its failing row alone, or empty. In all
  /// formats but JSON and CSV.
  std::function<std::string(std::uint32_t)> replayed_by = {};
};

/// In the format asked for. On a terminal verdicts first, then what failed, where, why and how to
/// replay it, then the GEMM table, then what the report was made on. Text from the report is made
/// printable first.
std::string show(const Report& report, const ShowOptions& options);

/// What was measured, and nothing else, as show() has it on a terminal. Empty where nothing was.
std::string show_metrics(const Report& report, const ShowOptions& options);

}  // namespace tidemark::reports
