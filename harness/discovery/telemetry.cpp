// Clocks, power, heat, throttling, Xids and counters of errors of this rank's GPUs.
#include "harness/discovery/telemetry.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "harness/base/child_process.hpp"
#include "harness/base/clock.hpp"
#include "harness/discovery/nvml.hpp"
#include "kernels/error.hpp"

namespace tidemark {

// Keeps what each counter held at first, and how far it had risen when that was told last.

std::vector<std::string> CounterRises::told(const std::vector<ErrorCounter>& counters) {
  std::vector<std::string> rose;
  for (const ErrorCounter& counter : counters) {
    if (!counter.errors) {
      if (unknown_.insert(counter.name).second)
        rose.push_back(counter.name + " are unknown: NVML does not say");
      continue;
    }
    const std::uint64_t errors = *counter.errors;
    Rise& rise = rises_.try_emplace(counter.name, Rise{.first = errors}).first->second;
    if (errors < rise.first) rise = Rise{.first = errors};  // the driver is new
    const std::uint64_t above = errors - rise.first;
    if (above == 0 || above < 2 * rise.told) continue;
    rise.told = above;
    rose.push_back(counter.name + " rose");
  }
  return rose;
}

// The reading side: starts the process that polls NVML and keeps what it says.

namespace {

constexpr double kNearEnough = 2;            // seconds
constexpr std::size_t kMostPoints = 36'000;  // of a GPU: half an hour
constexpr int kPipeBytes = 1 << 20;          // of eight GPUs: more than a minute

TelemetryPoint unknown_at(double at_unix_s) {
  constexpr float kNotRead = std::numeric_limits<float>::quiet_NaN();
  return {.at_unix_s = at_unix_s,
          .sm_mhz = kNotRead,
          .memory_mhz = kNotRead,
          .power_w = kNotRead,
          .temperature_c = kNotRead,
          .utilisation = kNotRead,
          .throttle_reasons = 0};
}

}  // namespace

struct Telemetry::Stream {
  ChildProcess child;
  FileDescriptor lines;
  std::string partial = {};
  std::map<std::uint32_t, std::deque<TelemetryPoint>> points = {};
  std::vector<EventRecord> events = {};

  void start(const std::vector<WatchedGpu>& gpus, const NvmlChild& nvml);
  void read_all();
  void keep(const std::string& line);
};

void Telemetry::Stream::start(const std::vector<WatchedGpu>& gpus, const NvmlChild& nvml) {
  Pipe pipe = make_pipe();
  set_non_blocking(pipe.read.get());
  // A launch that waits for other ranks does not read; where this is refused, readings are lost.
  ::fcntl(pipe.read.get(), F_SETPIPE_SZ, kPipeBytes);
  ChildOrder order{.program = nvml.program,
                   .arguments = {"tidemark", "__telemetry", nvml.library},
                   .fds = {-1, pipe.write.get(), -1}};
  for (const WatchedGpu& gpu : gpus) {
    order.arguments.push_back(std::to_string(gpu.gpu));
    order.arguments.push_back(gpu.uuid);
  }
  child = ChildProcess(order);
  lines = std::move(pipe.read);
}

void Telemetry::Stream::read_all() {
  const bool open_before = lines.get() >= 0;
  drain(lines, partial);
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = partial.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    keep(partial.substr(begin, end - begin));
  }
  partial.erase(0, begin);
  // Readings that stop must not look like a GPU that has none.
  if (!open_before || lines.get() >= 0) return;
  for (const auto& [gpu, kept] : points)
    events.push_back({.at_unix_s = unix_s(),
                      .gpu = static_cast<std::int32_t>(gpu),
                      .source = "nvml",
                      .code = 0,
                      .text = "the process that reads NVML ended: clocks, power and Xids are "
                              "unknown from here on"});
}

void Telemetry::Stream::keep(const std::string& line) {
  if (const std::optional<GpuReading> reading = reading_in(line)) {
    std::deque<TelemetryPoint>& kept = points[reading->gpu];
    kept.push_back(reading->point);
    if (kept.size() > kMostPoints) kept.pop_front();
  } else if (std::optional<EventRecord> event = event_in(line)) {
    events.push_back(std::move(*event));
  }
}

Telemetry::Telemetry(const std::vector<WatchedGpu>& gpus, const NvmlChild& child)
    : stream_(std::make_unique<Stream>()) {
  std::vector<WatchedGpu> real;
  std::copy_if(gpus.begin(), gpus.end(), std::back_inserter(real),
               [](const WatchedGpu& gpu) { return !gpu.uuid.starts_with("virtual-"); });
  if (real.empty()) return;
  try {
    stream_->start(real, child);
  } catch (const Error&) {
    // A launch without readings is a launch: every point is NaN.
  }
}

Telemetry::~Telemetry() { stream_->child.kill_within(1); }

TelemetryPoint Telemetry::nearest(std::uint32_t gpu, double at_unix_s) const {
  stream_->read_all();
  const auto found = stream_->points.find(gpu);
  const TelemetryPoint* best = nullptr;
  if (found != stream_->points.end()) {
    const std::deque<TelemetryPoint>& points = found->second;
    const auto distance = [&](const TelemetryPoint& point) {
      return std::abs(point.at_unix_s - at_unix_s);
    };
    const auto after = std::lower_bound(
        points.begin(), points.end(), at_unix_s,
        [](const TelemetryPoint& point, double at) { return point.at_unix_s < at; });
    if (after != points.end()) best = &*after;
    if (after != points.begin() &&
        (best == nullptr || distance(*std::prev(after)) < distance(*best)))
      best = &*std::prev(after);
    if (best != nullptr && distance(*best) > kNearEnough) best = nullptr;
  }
  return best != nullptr ? *best : unknown_at(at_unix_s);
}

std::vector<EventRecord> Telemetry::take_events() {
  stream_->read_all();
  return std::exchange(stream_->events, {});
}

// The process that polls NVML for a supervisor, and the lines of its pipe.

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

SendResult send_line(int fd, const std::string& line) {
  ssize_t written = -1;
  do {
    written = ::write(fd, line.data(), line.size());
  } while (written < 0 && errno == EINTR);
  if (written == static_cast<ssize_t>(line.size())) return SendResult::whole;
  return written < 0 && errno == EAGAIN ? SendResult::no_room : SendResult::closed;
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
SendResult send_events(std::deque<std::string>& lines) {
  while (!lines.empty()) {
    const SendResult sent = send_line(STDOUT_FILENO, lines.front());
    if (sent != SendResult::whole) return sent;
    lines.pop_front();
  }
  return SendResult::whole;
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
    if (send_events(events) == SendResult::closed) return 0;
    for (const Watched& one : watched) {
      const std::string line = to_line(GpuReading{.gpu = one.gpu, .point = nvml->read(one.device)});
      // A reading for which there is no room is dropped: the next one is as good.
      if (send_line(STDOUT_FILENO, line) == SendResult::closed) return 0;
    }
    std::this_thread::sleep_for(kInterval);
  }
}

}  // namespace tidemark
