// read_once REPORT: reads it and says what came of it in one line; for tests that look at a reader
// from outside.
#include <fmt/format.h>

#include <cstdio>

#include "reports/store/report.hpp"

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  try {
    const tidemark::Report report = tidemark::read_report(argv[1]);
    fmt::print("{} results\n", report.results.size());
    return 0;
  } catch (const tidemark::ReportError& error) {
    fmt::print("refused: {}\n", error.what());
    return 2;
  }
}
