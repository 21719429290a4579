// Clocks, power, heat, throttling, Xids and counters of errors of this rank's GPUs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "harness/discovery/gpu_inventory.hpp"
#include "harness/discovery/nvml.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

// Which counters of errors grew during a launch.

/// The counters of one GPU. What they hold at first is not of this launch.
class CounterRises {
 public:
  /// "PCIe replays rose": where a counter is higher than at first, and again each time that its
  /// rise has doubled. A loose cable counts thousands a second, and one event says as much. Once
  /// also "PCIe replays are unknown: ...", where NVML refuses them.
  std::vector<std::string> told(const std::vector<ErrorCounter>& counters);

 private:
  struct Rise {
    std::uint64_t first = 0;
    std::uint64_t told = 0;  // above `first`
  };
  std::map<std::string, Rise> rises_;
  std::set<std::string> unknown_;
};

// Clocks, power, temperature, throttle reasons and Xid events of this rank's GPUs, read beside the
// work.

/// Owns a process (`tidemark __telemetry`) that polls NVML about every 50 ms, and reads its pipe in
/// each call, without ever waiting for it: an NVML call can block for ever on a sick GPU. Without
/// NVML every point is NaN. For one thread.
class Telemetry {
 public:
  struct WatchedGpu {
    std::uint32_t gpu = 0;  // over all ranks
    std::string uuid;
  };

  explicit Telemetry(const std::vector<WatchedGpu>& gpus, const NvmlChild& child = {});
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  ~Telemetry();  // leaves a process behind that cannot be killed in one second

  /// The reading of `gpu` nearest to a moment; NaN fields where there is none within two seconds.
  TelemetryPoint nearest(std::uint32_t gpu, double at_unix_s) const;

  /// Xid and ECC events since the last call, what NVML refuses, and the end of readings.
  std::vector<EventRecord> take_events();

 private:
  struct Stream;
  std::unique_ptr<Stream> stream_;
};

// What the process that polls NVML writes into its pipe: one line a reading or event.

/// A reading of one GPU; `gpu` counts over all ranks.
struct GpuReading {
  std::uint32_t gpu = 0;
  TelemetryPoint point = {};
};

/// "5 1788220802.25 1755 3200 433.25 61 97 4\n", at most 200 bytes. Events are lines of a journal.
std::string to_line(const GpuReading& reading);

/// Nothing for any other line; `line` is without its end.
std::optional<GpuReading> reading_in(const std::string& line);
std::optional<EventRecord> event_in(const std::string& line);

enum class SendResult {
  whole,
  no_room,  // the reader is behind
  closed,   // nobody reads any more
};

/// Writes a line of at most PIPE_BUF bytes to a non-blocking pipe, whole or not at all.
SendResult send_line(int fd, const std::string& line);

// The process that polls NVML for a supervisor.

/// `__telemetry LIBRARY GPU UUID [GPU UUID]...`: writes readings and events to stdout, a pipe,
/// until nobody reads it. Returns the exit status; 1 where NVML or all of the GPUs are not there.
int telemetry_main(int argc, char** argv);

}  // namespace tidemark
