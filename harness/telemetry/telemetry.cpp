// Clocks, power, heat, throttling, Xids and counters of errors of this rank's GPUs.
#include "harness/telemetry/telemetry.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <utility>

#include "harness/base/child_process.hpp"
#include "harness/base/clock.hpp"
#include "kernels/error.hpp"

namespace tidemark::harness {

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
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  return {.at_unix_s = at_unix_s,
          .sm_mhz = kUnknown,
          .memory_mhz = kUnknown,
          .power_w = kUnknown,
          .temperature_c = kUnknown,
          .utilisation = kUnknown,
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

}  // namespace tidemark::harness
