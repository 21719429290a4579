// A report as text: for a terminal, for programs, for other pages.
#pragma once

#include <cstdint>
#include <string>

#include "reports/store/report.hpp"

namespace tidemark {

enum class Format : std::uint8_t { terminal, json, markdown, csv, junit, html };

struct ShowOptions {
  bool colour = false;
  bool all = false;  // passes too, and nothing capped; terminal and HTML
  Format format = Format::terminal;
  std::uint32_t columns = 100;  // of the terminal
};

/// In the format asked for. On a terminal verdicts first, then what failed, where, why and how to
/// replay it, then the GEMM table, then what the report was made on. Text from the report is made
/// printable first.
std::string show(const Report& report, const ShowOptions& options);

}  // namespace tidemark
