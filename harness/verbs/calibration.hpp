// The value of --noise: a report that holds a calibration.
#pragma once

#include <map>
#include <string>

namespace tidemark::harness {

struct Calibration {
  /// What its launches differed by, by "<case>/<metric>": a standard deviation of the natural
  /// logarithm.
  std::map<std::string, double> noise;
  bool is_virtual = false;
};

/// Throws UsageError where the report holds none, ReportError as read_report does.
Calibration calibration_in(const std::string& path);

}  // namespace tidemark::harness
