// A report of a launch that slowed a benchmark on purpose, for the tests of what renders it.
#pragma once

#include "reports/store/report.hpp"
#include "reports/testing/example_launch.hpp"

namespace tidemark {

/// The example launch, its gemm.distributed.speed slowed by 3 %.
inline Report slowed_report() {
  Report report = assemble(example_journals(), {});
  report.strings.emplace_back("slow.gemm.distributed.speed");
  report.strings.emplace_back("3%");
  const auto end = static_cast<std::uint32_t>(report.strings.size());
  report.provenance.push_back({.key = end - 2, .value = end - 1});
  return report;
}

}  // namespace tidemark
