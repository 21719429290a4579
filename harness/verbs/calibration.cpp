// Reads the keys of a calibration.
#include "harness/verbs/calibration.hpp"

#include <fmt/format.h>

#include "harness/errors.hpp"
#include "harness/verbs/given_report.hpp"
#include "reports/compare/speed/noise.hpp"

namespace tidemark::harness {

std::map<std::string, double> calibration_in(const std::string& path) {
  std::map<std::string, double> noise = stored_noise(given_report(path));
  if (noise.empty()) {
    throw UsageError(fmt::format(
        "--noise {}: holds no calibration; 'tidemark run --calibrate' makes reports that do",
        path));
  }
  return noise;
}

}  // namespace tidemark::harness
