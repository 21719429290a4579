// The thread that polls NVML, and the readings it leaves behind.
#include "harness/telemetry/telemetry.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <limits>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace tidemark {
namespace {

constexpr std::chrono::milliseconds kInterval{50};
constexpr std::chrono::seconds kPatience{1};
constexpr double kNearEnough = 2;            // seconds
constexpr std::size_t kMostPoints = 36'000;  // of a GPU: half an hour

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

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

/// Owned by the object and by the thread: a thread that is stuck in NVML outlives the object.
struct Telemetry::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  bool ended = false;  // the thread
  std::map<std::uint32_t, std::deque<TelemetryPoint>> points;
  std::vector<EventRecord> events;
};

namespace {

struct Watched {
  std::uint32_t gpu = 0;
  NvmlDevice device = nullptr;
  bool lost = false;
};

std::vector<Watched> open_all(Nvml& nvml, const std::vector<Telemetry::WatchedGpu>& gpus) {
  std::vector<Watched> watched;
  for (const Telemetry::WatchedGpu& gpu : gpus) {
    const NvmlDevice device = nvml.device_of_uuid(gpu.uuid);
    if (device == nullptr) continue;
    nvml.watch(device);
    watched.push_back({.gpu = gpu.gpu, .device = device});
  }
  return watched;
}

EventRecord event_record(std::int32_t gpu, std::int32_t xid, const std::string& text) {
  return {.at_unix_s = unix_now(), .gpu = gpu, .source = "nvml", .code = xid, .text = text};
}

// Events that came since the last round, and GPUs that were lost since.
std::vector<EventRecord> events_of(Nvml& nvml, std::vector<Watched>& watched) {
  std::vector<EventRecord> events;
  // A storm of events must not keep the readings away: the rest comes in the next round.
  for (int i = 0; i < 100; ++i) {
    const auto event = nvml.next_event(0);
    if (!event) break;
    std::int32_t gpu = -1;
    for (const Watched& one : watched) {
      if (one.device == event->device) gpu = static_cast<std::int32_t>(one.gpu);
    }
    events.push_back(event_record(gpu, event->xid, event->text));
  }
  for (Watched& one : watched) {
    if (one.lost || !nvml.lost(one.device)) continue;
    one.lost = true;
    events.push_back(event_record(static_cast<std::int32_t>(one.gpu), 0,
                                  "GPU is lost: it does not answer on the bus"));
  }
  return events;
}

}  // namespace

void Telemetry::poll(const std::shared_ptr<Shared>& shared, const std::vector<WatchedGpu>& gpus,
                     const std::string& library) {
  // No lock is held while NVML is called: who waits for the lock would wait for the driver.
  if (auto nvml = Nvml::open(library)) {
    std::vector<Watched> watched = open_all(*nvml, gpus);
    std::unique_lock lock(shared->mutex);
    while (!shared->stop && !watched.empty()) {
      lock.unlock();
      std::vector<std::pair<std::uint32_t, TelemetryPoint>> points;
      points.reserve(watched.size());
      for (const Watched& one : watched) points.emplace_back(one.gpu, nvml->read(one.device));
      const std::vector<EventRecord> events = events_of(*nvml, watched);
      lock.lock();
      for (const auto& [gpu, point] : points) {
        std::deque<TelemetryPoint>& kept = shared->points[gpu];
        kept.push_back(point);
        if (kept.size() > kMostPoints) kept.pop_front();
      }
      shared->events.insert(shared->events.end(), events.begin(), events.end());
      shared->changed.wait_for(lock, kInterval, [&] { return shared->stop; });
    }
  }
  const std::lock_guard lock(shared->mutex);
  shared->ended = true;
  shared->changed.notify_all();
}

Telemetry::Telemetry(std::vector<WatchedGpu> gpus, const std::string& library)
    : shared_(std::make_shared<Shared>()) {
  gpus.erase(
      std::remove_if(gpus.begin(), gpus.end(),
                     [](const WatchedGpu& gpu) { return gpu.uuid.rfind("virtual-", 0) == 0; }),
      gpus.end());
  if (gpus.empty()) {
    shared_->ended = true;
    return;
  }
  std::thread(poll, shared_, std::move(gpus), library).detach();
}

// The thread is detached from its birth, so that leaving it behind needs nothing; a second is
// given to one that does answer, because it must not run into the end of the process.
Telemetry::~Telemetry() {
  std::unique_lock lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
  shared_->changed.wait_for(lock, kPatience, [&] { return shared_->ended; });
}

TelemetryPoint Telemetry::nearest(std::uint32_t gpu, double at_unix_s) const {
  const std::lock_guard lock(shared_->mutex);
  const auto found = shared_->points.find(gpu);
  const TelemetryPoint* best = nullptr;
  if (found != shared_->points.end()) {
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
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->events, {});
}

}  // namespace tidemark
