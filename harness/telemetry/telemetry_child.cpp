// The process that polls NVML for a supervisor, and the lines of its pipe.

#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "harness/base/child_process.hpp"
#include "harness/base/clock.hpp"
#include "harness/discovery/nvml.hpp"
#include "harness/telemetry/telemetry.hpp"

namespace tidemark::harness {

// Readings as short text: eight GPUs make a hundred and sixty lines a second.

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

// Polls NVML. Everything here may block in the driver for ever, and only this process with it.

namespace {

constexpr std::chrono::milliseconds kInterval{50};
constexpr int kRoundsPerCount = 20;        // counters of errors are read once a second
constexpr std::size_t kMostUnsent = 1000;  // events

struct Watched {
  std::uint32_t gpu = 0;
  NvmlDevice device = nullptr;
  bool lost = false;
  CounterRises rises = {};
};

std::string event_line(std::int32_t gpu, std::int32_t xid, const std::string& text) {
  return to_line(
      EventRecord{.at_unix_s = unix_s(), .gpu = gpu, .source = "nvml", .code = xid, .text = text});
}

/// Adds an event for what NVML refuses: a report without any would claim that there was none.
std::vector<Watched> open_all(Nvml& nvml, int argc, char** argv, std::deque<std::string>& lines) {
  std::vector<Watched> watched;
  for (int i = 3; i + 1 < argc; i += 2) {
    const auto gpu = static_cast<std::uint32_t>(std::strtoul(argv[i], nullptr, 10));
    const auto add = [&](const std::string& text) {
      lines.push_back(event_line(static_cast<std::int32_t>(gpu), 0, text));
    };
    const NvmlDevice device = nvml.device_of_uuid(argv[i + 1]);
    if (device == nullptr) {
      add("clocks, power and Xids are unknown: NVML does not open the GPU");
      continue;
    }
    if (!nvml.watch(device)) add("Xids are unknown: NVML does not watch for them");
    if (!nvml.compute_processes(device)) add("processes on the GPU are unknown: NVML does not say");
    watched.push_back({.gpu = gpu, .device = device});
    for (const auto& text : watched.back().rises.told(nvml.error_counters(device))) add(text);
  }
  return watched;
}

// Adds the events that came since the last round, and the GPUs that were lost since.
void add_events(Nvml& nvml, std::vector<Watched>& watched, std::deque<std::string>& lines) {
  // A storm of events must not keep the readings away: the rest comes in the next round.
  for (int i = 0; i < 100; ++i) {
    const auto event = nvml.next_event(0);
    if (!event) break;
    for (const Watched& one : watched)
      if (event->device == nullptr || one.device == event->device)
        lines.push_back(event_line(static_cast<std::int32_t>(one.gpu), event->xid, event->text));
  }
  for (Watched& one : watched) {
    if (one.lost || !nvml.lost(one.device)) continue;
    one.lost = true;
    lines.push_back(event_line(static_cast<std::int32_t>(one.gpu), 0,
                               "GPU is lost: it does not answer on the bus"));
  }
  while (lines.size() > kMostUnsent) lines.pop_back();  // the first ones say how it began
}

void add_rises(Nvml& nvml, std::vector<Watched>& watched, std::deque<std::string>& lines) {
  for (Watched& one : watched)
    for (const std::string& text : one.rises.told(nvml.error_counters(one.device)))
      lines.push_back(event_line(static_cast<std::int32_t>(one.gpu), 0, text));
}

// Events wait for room, in their order.
Sent send_events(std::deque<std::string>& lines) {
  while (!lines.empty()) {
    const Sent sent = send_line(STDOUT_FILENO, lines.front());
    if (sent != Sent::whole) return sent;
    lines.pop_front();
  }
  return Sent::whole;
}

}  // namespace

int telemetry_main(int argc, char** argv) {
  if (argc < 5) return 1;
  // A reader that is behind, or gone, is no reason to block or to die in the middle of a call.
  set_non_blocking(STDOUT_FILENO);
  ::signal(SIGPIPE, SIG_IGN);
  std::optional<Nvml> nvml = Nvml::open(argv[2]);
  if (!nvml) return 1;
  std::deque<std::string> events;
  std::vector<Watched> watched = open_all(*nvml, argc, argv, events);
  if (watched.empty()) {
    send_events(events);
    return 1;
  }
  for (int round = 0;; round = (round + 1) % kRoundsPerCount) {
    if (round == 0) add_rises(*nvml, watched, events);
    add_events(*nvml, watched, events);
    if (send_events(events) == Sent::closed) return 0;
    for (const Watched& one : watched) {
      const std::string line = to_line(GpuReading{.gpu = one.gpu, .point = nvml->read(one.device)});
      // A reading for which there is no room is dropped: the next one is as good.
      if (send_line(STDOUT_FILENO, line) == Sent::closed) return 0;
    }
    std::this_thread::sleep_for(kInterval);
  }
}

}  // namespace tidemark::harness
