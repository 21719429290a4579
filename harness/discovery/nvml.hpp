// NVML, loaded at run time: the program must start, list and show where there is no driver. Only
// the children __nvml and __telemetry may use this.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "reports/journal/hardware_events.hpp"
#include "reports/journal/record.hpp"

namespace tidemark {

using NvmlDevice = void*;  // nvmlDevice_t

/// What happened to a GPU, as NVML tells it.
struct NvmlEvent {
  NvmlDevice device = nullptr;
  std::int32_t xid = 0;  // 0: not an Xid
  std::string text;
};

/// Errors counted since the driver was loaded; none: NVML does not say.
struct ErrorCounter {
  std::string name;
  std::optional<std::uint64_t> errors = 0;
};

/// What `doctor` asks of a GPU beside its record; -1 and 0 where NVML does not say.
struct GpuState {
  GpuRecord record = {};
  std::vector<std::string> refused = {};      // functions of NVML that gave no answer, sorted
  std::vector<std::uint32_t> processes = {};  // with a compute context
  std::int32_t compute_mode = -1;             // nvmlComputeMode_t; 2: no process may use it
  std::int32_t ecc_pending = -1, mig_pending = -1;
  std::uint32_t remapped_rows_failed = 0;
  std::uint32_t nvlinks = 0;  // that it has, up or down
  std::uint32_t default_app_sm_mhz = 0;
  std::uint64_t throttle_reasons = 0;
  std::vector<std::int32_t> peers = {};  // nvmlGpuP2PStatus_t to each GPU of the node; 0: both
                                         // reads and writes; -1 for itself
};

/// An initialised NVML. Any call may block for ever on a sick GPU: call only where nobody waits
/// without a bound. A function that the library lacks, or refuses, leaves its fields unknown.
class Nvml {
 public:
  /// Nothing where the library is not there or does not initialise; `why` is told then.
  static std::optional<Nvml> open(const std::string& library, std::string* why = nullptr);
  Nvml(Nvml&& other) noexcept;
  Nvml& operator=(Nvml&& other) noexcept;
  ~Nvml();

  /// Null where NVML knows no such GPU.
  NvmlDevice device_of_uuid(const std::string& uuid) const;
  NvmlDevice device_of_pci(const std::string& pci) const;

  /// All GPUs of the node, in NVML's order, whatever CUDA_VISIBLE_DEVICES says. Null where one is
  /// refused: it has fallen off the bus, or this user may not have it.
  std::vector<NvmlDevice> devices() const;

  /// `devices`: those of the node, to ask which of them the GPU reaches.
  GpuState state(NvmlDevice device, const std::vector<NvmlDevice>& devices) const;

  /// Fills what only NVML knows, and `driver` and `nvml`.
  void describe(NvmlDevice device, GpuRecord& record) const;

  /// Clocks and sensors now; NaN where not read.
  TelemetryPoint read(NvmlDevice device) const;

  /// Of memory, remapped rows, PCIe and each NVLink that is up.
  std::vector<ErrorCounter> error_counters(NvmlDevice device) const;

  /// Whether the GPU has fallen off the bus.
  bool lost(NvmlDevice device) const;

  /// Processes with a compute context on the GPU; nothing where NVML does not say.
  std::optional<std::vector<std::uint32_t>> compute_processes(NvmlDevice device) const;

  /// Has Xid and ECC events of this GPU queued from now on; false where it has none.
  bool watch(NvmlDevice device);

  /// The next queued event, waited for at most `timeout_ms`. One without a device, once, where
  /// NVML refuses to be waited for.
  std::optional<NvmlEvent> next_event(unsigned timeout_ms);

 private:
  struct Mode {
    std::int32_t now = -1, pending = -1;
  };
  struct Rows {
    std::optional<std::uint64_t> remapped = {};
    std::uint32_t pending = kUnknownCount<std::uint32_t>, failed = 0;
  };
  struct Links {
    std::uint32_t there = 0, up_mask = 0;
    bool known = true;  // false: NVML refuses to say it of a link
  };
  Mode mode(const char* function, NvmlDevice device) const;
  Rows remapped_rows(NvmlDevice device) const;
  Links links(NvmlDevice device) const;
  std::uint64_t throttle_reasons(NvmlDevice device) const;
  std::int32_t peer_status(NvmlDevice device, NvmlDevice other) const;

  explicit Nvml(void* library) : library_(library) {}

  /// Calls an NVML function by name and returns its nvmlReturn_t. The arguments must have exactly
  /// the types of its declaration in nvml.h.
  template <class... Arguments>
  int call(const char* function, Arguments... arguments) const;

  /// What the function writes to its last argument, or its text; nothing where it is refused, which
  /// is noted.
  template <class Out, class... Arguments>
  std::optional<Out> get(const char* function, Arguments... arguments) const;
  template <class... Device>
  std::string text(const char* function, Device... device) const;

  void* library_ = nullptr;
  void* events_ = nullptr;  // nvmlEventSet_t
  bool wait_refused_ = false;
  mutable std::set<std::string> refused_;  // since state() began
};

}  // namespace tidemark
