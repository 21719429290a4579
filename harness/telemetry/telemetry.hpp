// Reads clocks, power, temperature, throttle reasons and Xid events of this rank's GPUs beside the
// work.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/discovery/nvml.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

/// Polls NVML about every 50 ms on a thread of its own, because an NVML call can block for ever on
/// a sick GPU: nothing here waits for that thread. Without NVML every point is NaN.
class Telemetry {
 public:
  struct WatchedGpu {
    std::uint32_t gpu = 0;  // over all ranks
    std::string uuid;
  };

  explicit Telemetry(std::vector<WatchedGpu> gpus, const std::string& library = kNvmlLibrary);
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;
  ~Telemetry();  // leaves a thread behind that does not answer in one second

  /// The reading of `gpu` nearest to a moment; NaN fields where there is none within two seconds.
  TelemetryPoint nearest(std::uint32_t gpu, double at_unix_s) const;

  /// Xid and ECC events since the last call.
  std::vector<EventRecord> take_events();

 private:
  struct Shared;
  static void poll(const std::shared_ptr<Shared>& shared, const std::vector<WatchedGpu>& gpus,
                   const std::string& library);
  std::shared_ptr<Shared> shared_;
};

}  // namespace tidemark
