// The value of --noise: a report that holds a calibration.
#pragma once

#include <map>
#include <string>

namespace tidemark::harness {

/// What the launches of a calibration differed by, by "<case>/<metric>": a standard deviation of
/// the natural logarithm. Throws UsageError where the report holds none, ReportError as read_report
/// does.
std::map<std::string, double> calibration_in(const std::string& path);

}  // namespace tidemark::harness
