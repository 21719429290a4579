// A report as text for a terminal.
#pragma once

#include <cstdint>
#include <string>

#include "reports/store/report.hpp"

namespace tidemark {

struct ShowOptions {
  bool colour = false;
  bool all = false;  // list passes too
  bool json = false;
  std::uint32_t columns = 100;  // of the terminal
};

/// Verdicts first, then what failed, where, why and how to replay it, then the GEMM table, then
/// what the report was made on. Text from the report is made printable first.
std::string show(const Report& report, const ShowOptions& options);

}  // namespace tidemark
