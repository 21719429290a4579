// From seconds since 1970 to text.
#include "reports/utc.hpp"

#include <fmt/format.h>

#include <ctime>

namespace tidemark::reports {

bool is_launch_time(double unix_s) {
  constexpr double kBegin = 1577836800, kEnd = 7258118400;  // 2020-01-01, 2200-01-01
  return unix_s >= kBegin && unix_s < kEnd;                 // NaN is neither
}

std::string utc_text(double unix_s) {
  constexpr double kYear10000 = 253402300800;
  if (!(unix_s >= 0 && unix_s < kYear10000)) return {};
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", utc.tm_year + 1900, utc.tm_mon + 1,
                     utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec);
}

}  // namespace tidemark::reports
