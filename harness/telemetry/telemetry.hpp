// Clocks, power, temperature, throttle reasons and Xid events of this rank's GPUs, read beside the
// work.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/discovery/nvml_child.hpp"
#include "harness/room.hpp"
#include "reports/journal/record.hpp"

namespace tidemark::harness {

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

}  // namespace tidemark::harness
