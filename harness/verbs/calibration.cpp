// Reads the keys of a calibration.
#include "harness/verbs/calibration.hpp"

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/verbs/given_report.hpp"
#include "reports/compare/speed/noise.hpp"

namespace tidemark::harness {

Calibration calibration_in(const std::string& path) {
  const reports::Report report = given_report(path);
  Calibration made{.noise = stored_noise(report), .is_virtual = report.launch.is_virtual};
  if (made.noise.empty()) {
    throw UsageError(fmt::format(
        "--noise {}: holds no calibration; 'tidemark run --calibrate' makes reports that do",
        path));
  }
  return made;
}

}  // namespace tidemark::harness
