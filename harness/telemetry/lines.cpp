// Readings as short text: eight GPUs make a hundred and sixty lines a second.
#include "harness/telemetry/lines.hpp"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <string_view>

#include <fmt/format.h>

namespace tidemark::harness {
namespace {

/// Takes the next number off `text`; false when there is none or it is followed by other than a
/// space or the end.
template <class Number>
bool take(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.empty()) return true;
  if (text.front() != ' ') return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string to_line(const GpuReading& reading) {
  const TelemetryPoint& point = reading.point;
  return fmt::format("{} {} {} {} {} {} {} {}\n", reading.gpu, point.at_unix_s, point.sm_mhz,
                     point.memory_mhz, point.power_w, point.temperature_c, point.utilisation,
                     point.throttle_reasons);
}

std::optional<GpuReading> reading_in(const std::string& line) {
  GpuReading reading;
  TelemetryPoint& point = reading.point;
  std::string_view rest = line;
  const bool all = take(rest, reading.gpu) && take(rest, point.at_unix_s) &&
                   take(rest, point.sm_mhz) && take(rest, point.memory_mhz) &&
                   take(rest, point.power_w) && take(rest, point.temperature_c) &&
                   take(rest, point.utilisation) && take(rest, point.throttle_reasons);
  if (!all || !rest.empty()) return std::nullopt;
  return reading;
}

std::optional<EventRecord> event_in(const std::string& line) {
  const JournalText text = parse_journal(line + '\n');
  if (text.records.size() != 1) return std::nullopt;
  const auto* const event = std::get_if<EventRecord>(&text.records[0]);
  return event != nullptr ? std::optional(*event) : std::nullopt;
}

Sent send_line(int fd, const std::string& line) {
  ssize_t written = -1;
  do {
    written = ::write(fd, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size())) return Sent::whole;
  return written < 0 && errno == EAGAIN ? Sent::no_room : Sent::closed;
}

}  // namespace tidemark::harness
