// NVML's stable C interface, declared here because nvml.h need not be where tidemark is built.
// Names, values and layouts: nvml.h of the NVIDIA Management Library, API version 12.
#include "harness/discovery/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "harness/base/clock.hpp"

namespace tidemark {
namespace {

constexpr int kSuccess = 0;              // NVML_SUCCESS
constexpr int kInvalidArgument = 2;      // NVML_ERROR_INVALID_ARGUMENT
constexpr int kNotSupported = 3;         // NVML_ERROR_NOT_SUPPORTED
constexpr int kInsufficientSize = 7;     // NVML_ERROR_INSUFFICIENT_SIZE
constexpr int kTimeout = 10;             // NVML_ERROR_TIMEOUT
constexpr int kFunctionNotFound = 13;    // NVML_ERROR_FUNCTION_NOT_FOUND
constexpr int kGpuIsLost = 15;           // NVML_ERROR_GPU_IS_LOST
constexpr unsigned kClockSm = 1;         // NVML_CLOCK_SM
constexpr unsigned kClockMemory = 2;     // NVML_CLOCK_MEM
constexpr unsigned kSensorGpu = 0;       // NVML_TEMPERATURE_GPU
constexpr unsigned kEnabled = 1;         // NVML_FEATURE_ENABLED, NVML_DEVICE_MIG_ENABLE
constexpr unsigned kCorrected = 0;       // NVML_MEMORY_ERROR_TYPE_CORRECTED
constexpr unsigned kUncorrected = 1;     // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
constexpr unsigned kVolatile = 0;        // NVML_VOLATILE_ECC
constexpr unsigned kP2pRead = 0;         // NVML_P2P_CAPS_INDEX_READ
constexpr unsigned kP2pWrite = 1;        // NVML_P2P_CAPS_INDEX_WRITE
constexpr unsigned kMostNvlinks = 18;    // NVML_NVLINK_MAX_LINKS
constexpr unsigned kLinkReplay = 0;      // NVML_NVLINK_ERROR_DL_REPLAY
constexpr unsigned kLinkRecovery = 1;    // NVML_NVLINK_ERROR_DL_RECOVERY
constexpr unsigned kLinkCrcFlit = 2;     // NVML_NVLINK_ERROR_DL_CRC_FLIT
constexpr std::uint64_t kSingleBit = 1;  // nvmlEventTypeSingleBitEccError
constexpr std::uint64_t kDoubleBit = 2;  // nvmlEventTypeDoubleBitEccError
constexpr std::uint64_t kXid = 8;        // nvmlEventTypeXidCriticalError

// nvml.h's unsigned long long, which is not std::uint64_t in name.
using U64 = unsigned long long;

// nvmlPciInfo_t
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68 && offsetof(PciInfo, bus_id) == 36);

// nvmlUtilization_t
struct Utilization {
  unsigned gpu, memory;  // percent
};

// nvmlProcessInfo_t, its second version, as nvmlDeviceGetComputeRunningProcesses_v3 has it
struct ProcessInfo {
  unsigned pid;
  U64 used_gpu_memory;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(ProcessInfo) == 24 && offsetof(ProcessInfo, gpu_instance) == 16);

// nvmlEventData_t
struct EventData {
  NvmlDevice device;
  U64 type, data;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(EventData) == 32 && offsetof(EventData, gpu_instance) == 24);

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

NvmlEvent event_of(const EventData& data) {
  NvmlEvent event{.device = data.device, .xid = 0, .text = std::string(kDoubleBitError)};
  if (data.type == kSingleBit) event.text = "single-bit ECC error";
  if (data.type == kXid) {
    event.xid = static_cast<std::int32_t>(data.data);
    event.text = fmt::format("Xid {}", data.data);
  }
  return event;
}

}  // namespace

template <class... Arguments>
int Nvml::call(const char* function, Arguments... arguments) const {
  void* const address = dlsym(library_, function);
  if (address == nullptr) return kFunctionNotFound;
  return reinterpret_cast<int (*)(Arguments...)>(address)(arguments...);
}

template <class Out, class... Arguments>
std::optional<Out> Nvml::get(const char* function, Arguments... arguments) const {
  Out value{};
  if (call(function, arguments..., &value) == kSuccess) return value;
  refused_.insert(function);
  return std::nullopt;
}

std::optional<Nvml> Nvml::open(const std::string& library, std::string* why) {
  void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    if (why != nullptr) *why = dlerror();
    return std::nullopt;
  }
  Nvml nvml(handle);
  const int code = nvml.call("nvmlInit_v2");
  if (code == kSuccess) return nvml;
  if (why != nullptr) {
    const auto words =
        reinterpret_cast<const char* (*)(int)>(dlsym(nvml.library_, "nvmlErrorString"));
    *why = fmt::format("nvmlInit_v2 ended with {}{}{}", code, words == nullptr ? "" : ": ",
                       words == nullptr ? "" : words(code));
  }
  return std::nullopt;
}

Nvml::Nvml(Nvml&& other) noexcept
    : library_(std::exchange(other.library_, nullptr)),
      events_(std::exchange(other.events_, nullptr)) {}

Nvml& Nvml::operator=(Nvml&& other) noexcept {
  std::swap(library_, other.library_);
  std::swap(events_, other.events_);
  return *this;
}

// The library stays mapped: unloading it while the driver still runs a thread of its own in it
// would end the process, and the next open() finds it again. Shutdown is counted by NVML, and
// refused by it where its start failed.
Nvml::~Nvml() {
  if (library_ == nullptr) return;
  if (events_ != nullptr) call("nvmlEventSetFree", events_);
  call("nvmlShutdown");
}

NvmlDevice Nvml::device_of_uuid(const std::string& uuid) const {
  return get<NvmlDevice>("nvmlDeviceGetHandleByUUID", uuid.c_str()).value_or(nullptr);
}

NvmlDevice Nvml::device_of_pci(const std::string& pci) const {
  return get<NvmlDevice>("nvmlDeviceGetHandleByPciBusId_v2", pci.c_str()).value_or(nullptr);
}

std::vector<NvmlDevice> Nvml::devices() const {
  std::vector<NvmlDevice> devices;
  for (unsigned i = 0; i < get<unsigned>("nvmlDeviceGetCount_v2").value_or(0); ++i)
    devices.push_back(get<NvmlDevice>("nvmlDeviceGetHandleByIndex_v2", i).value_or(nullptr));
  return devices;
}

std::int32_t Nvml::peer_status(NvmlDevice device, NvmlDevice other) const {
  if (device == other || other == nullptr) return -1;
  for (const unsigned capability : {kP2pRead, kP2pWrite}) {
    const auto status = get<unsigned>("nvmlDeviceGetP2PStatus", device, other, capability);
    if (status != 0U) return status ? static_cast<std::int32_t>(*status) : -1;
  }
  return 0;
}

// NVML_DEVICE_NAME_V2_BUFFER_SIZE and _UUID_V2_ are 96, NVML_DEVICE_SERIAL_BUFFER_SIZE is 30,
// _VBIOS_VERSION_ 32, _PART_NUMBER_ and NVML_SYSTEM_DRIVER_VERSION_ 80.
template <class... Device>
std::string Nvml::text(const char* function, Device... device) const {
  std::array<char, 96> text{};
  const auto length = static_cast<unsigned>(text.size() - 1);
  if (call(function, device..., text.data(), length) == kSuccess) return text.data();
  refused_.insert(function);
  return {};
}

Nvml::Mode Nvml::mode(const char* function, NvmlDevice device) const {
  unsigned now = 0, pending = 0;
  if (call(function, device, &now, &pending) == kSuccess)
    return {.now = now == kEnabled ? 1 : 0, .pending = pending == kEnabled ? 1 : 0};
  refused_.insert(function);
  return {};
}

Nvml::Rows Nvml::remapped_rows(NvmlDevice device) const {
  constexpr const char* kFunction = "nvmlDeviceGetRemappedRows";
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0;
  if (call(kFunction, device, &corrected, &uncorrected, &pending, &failed) == kSuccess)
    return {
        .remapped = std::uint64_t{corrected} + uncorrected, .pending = pending, .failed = failed};
  refused_.insert(kFunction);
  return {};
}

/// A link that a GPU does not have is not supported, or no valid argument.
Nvml::Links Nvml::links(NvmlDevice device) const {
  constexpr const char* kFunction = "nvmlDeviceGetNvLinkState";
  Links links;
  for (unsigned link = 0; link < kMostNvlinks; ++link) {
    unsigned active = 0;
    const int code = call(kFunction, device, link, &active);
    if (code == kSuccess) {
      ++links.there;
      links.up_mask |= (active == kEnabled ? 1U : 0U) << link;
    } else if (code != kNotSupported && code != kInvalidArgument) {
      refused_.insert(kFunction);
      links.known = false;
    }
  }
  return links;
}

GpuState Nvml::state(NvmlDevice device, const std::vector<NvmlDevice>& devices) const {
  GpuState state;
  refused_.clear();
  state.record.uuid = text("nvmlDeviceGetUUID", device);
  state.record.name = text("nvmlDeviceGetName", device);
  constexpr const char* kCapability = "nvmlDeviceGetCudaComputeCapability";
  int major = 0, minor = 0;
  if (call(kCapability, device, &major, &minor) != kSuccess) refused_.insert(kCapability);
  state.record.compute_capability = static_cast<std::uint32_t>(10 * major + minor);
  describe(device, state.record);
  state.processes = compute_processes(device).value_or(std::vector<std::uint32_t>{});
  if (const auto mode = get<unsigned>("nvmlDeviceGetComputeMode", device))
    state.compute_mode = static_cast<std::int32_t>(*mode);
  state.ecc_pending = mode("nvmlDeviceGetEccMode", device).pending;
  state.mig_pending = mode("nvmlDeviceGetMigMode", device).pending;
  state.remapped_rows_failed = remapped_rows(device).failed;
  state.nvlinks = links(device).there;
  state.default_app_sm_mhz =
      get<unsigned>("nvmlDeviceGetDefaultApplicationsClock", device, kClockSm).value_or(0);
  state.throttle_reasons = throttle_reasons(device);
  for (const NvmlDevice other : devices) state.peers.push_back(peer_status(device, other));
  state.refused.assign(refused_.begin(), refused_.end());
  return state;
}

void Nvml::describe(NvmlDevice device, GpuRecord& record) const {
  record.nvml = true;
  record.serial = text("nvmlDeviceGetSerial", device);
  record.vbios = text("nvmlDeviceGetVbiosVersion", device);
  record.board_part = text("nvmlDeviceGetBoardPartNumber", device);
  record.driver = text("nvmlSystemGetDriverVersion");
  if (record.pci.empty())
    record.pci = get<PciInfo>("nvmlDeviceGetPciInfo_v3", device).value_or(PciInfo{}).bus_id;

  record.ecc_enabled = mode("nvmlDeviceGetEccMode", device).now;
  record.mig_enabled = mode("nvmlDeviceGetMigMode", device).now;
  if (const auto on = get<unsigned>("nvmlDeviceGetPersistenceMode", device))
    record.persistence = *on == kEnabled ? 1 : 0;
  const auto watts = [&](const char* function) {
    const auto milliwatts = get<unsigned>(function, device);
    return milliwatts ? *milliwatts / 1000.0 : double{kUnknown};
  };
  record.power_limit_w = watts("nvmlDeviceGetPowerManagementLimit");
  record.default_power_limit_w = watts("nvmlDeviceGetPowerManagementDefaultLimit");
  const auto mhz = [&](const char* function, unsigned clock) {
    return get<unsigned>(function, device, clock).value_or(0);
  };
  record.app_sm_mhz = mhz("nvmlDeviceGetApplicationsClock", kClockSm);
  record.app_memory_mhz = mhz("nvmlDeviceGetApplicationsClock", kClockMemory);
  record.max_sm_mhz = mhz("nvmlDeviceGetMaxClockInfo", kClockSm);

  const Links links = this->links(device);
  record.nvlinks_up = record.nvlinks_up_mask = kUnknownCount<std::uint32_t>;
  if (links.known && links.there > 0) {
    record.nvlinks_up = static_cast<std::uint32_t>(std::popcount(links.up_mask));
    record.nvlinks_up_mask = links.up_mask;
  }
  const auto errors = [&](unsigned type) {
    return get<U64>("nvmlDeviceGetTotalEccErrors", device, type, kVolatile)
        .value_or(kUnknownCount<U64>);
  };
  record.ecc_corrected = errors(kCorrected);
  record.ecc_uncorrected = errors(kUncorrected);
  record.remapped_rows_pending = remapped_rows(device).pending;
}

std::vector<ErrorCounter> Nvml::error_counters(NvmlDevice device) const {
  std::vector<ErrorCounter> counters;
  constexpr const char* kEccErrors = "nvmlDeviceGetTotalEccErrors";
  counters.push_back({"corrected ECC errors", get<U64>(kEccErrors, device, kCorrected, kVolatile)});
  counters.push_back(
      {"uncorrected ECC errors", get<U64>(kEccErrors, device, kUncorrected, kVolatile)});
  counters.push_back({"remapped rows", remapped_rows(device).remapped});
  counters.push_back({"PCIe replays", get<unsigned>("nvmlDeviceGetPcieReplayCounter", device)});
  const Links links = this->links(device);
  if (!links.known) counters.push_back({"NVLink errors", std::nullopt});
  for (unsigned link = 0; link < kMostNvlinks; ++link) {
    if ((links.up_mask >> link & 1U) == 0) continue;
    const auto add = [&](const char* name, unsigned counter) {
      const auto errors = get<U64>("nvmlDeviceGetNvLinkErrorCounter", device, link, counter);
      counters.push_back(
          {errors ? fmt::format("NVLink {} {}", link, name) : "NVLink errors", errors});
    };
    add("replays", kLinkReplay);
    add("recoveries", kLinkRecovery);
    // Not NVML_NVLINK_ERROR_DL_CRC_DATA: on an H100 (driver 580.159.04) it rises on all links that
    // nobody uses, from second to second (ci/baselines/h100-interleave.h5).
    add("CRC errors", kLinkCrcFlit);
  }
  return counters;
}

// Renamed in driver 535; the old name stayed.
std::uint64_t Nvml::throttle_reasons(NvmlDevice device) const {
  U64 reasons = 0;
  if (call("nvmlDeviceGetCurrentClocksEventReasons", device, &reasons) == kSuccess) return reasons;
  return get<U64>("nvmlDeviceGetCurrentClocksThrottleReasons", device).value_or(kThrottlingUnknown);
}

TelemetryPoint Nvml::read(NvmlDevice device) const {
  TelemetryPoint point{.at_unix_s = unix_s()};
  const auto number = [&](const char* function, auto... arguments) {
    const auto value = get<unsigned>(function, device, arguments...);
    return value ? static_cast<float>(*value) : kUnknown;
  };
  point.sm_mhz = number("nvmlDeviceGetClockInfo", kClockSm);
  point.memory_mhz = number("nvmlDeviceGetClockInfo", kClockMemory);
  point.power_w = number("nvmlDeviceGetPowerUsage") / 1000;
  point.temperature_c = number("nvmlDeviceGetTemperature", kSensorGpu);
  const auto rates = get<Utilization>("nvmlDeviceGetUtilizationRates", device);
  point.utilisation = rates ? static_cast<float>(rates->gpu) : kUnknown;
  point.throttle_reasons = throttle_reasons(device);
  return point;
}

bool Nvml::lost(NvmlDevice device) const {
  unsigned milliwatts = 0;
  return call("nvmlDeviceGetPowerUsage", device, &milliwatts) == kGpuIsLost;
}

std::optional<std::vector<std::uint32_t>> Nvml::compute_processes(NvmlDevice device) const {
  constexpr const char* kFunction = "nvmlDeviceGetComputeRunningProcesses_v3";
  std::vector<ProcessInfo> infos(64);
  auto count = static_cast<unsigned>(infos.size());
  int code = call(kFunction, device, &count, infos.data());
  if (code == kInsufficientSize) {  // `count` now says how many there are; a few may join
    infos.resize(count + std::size_t{64});
    count = static_cast<unsigned>(infos.size());
    code = call(kFunction, device, &count, infos.data());
  }
  if (code != kSuccess) {
    refused_.insert(kFunction);
    return std::nullopt;
  }
  std::vector<std::uint32_t> pids;
  for (std::size_t i = 0; i < count && i < infos.size(); ++i) pids.push_back(infos[i].pid);
  return pids;
}

bool Nvml::watch(NvmlDevice device) {
  if (events_ == nullptr && call("nvmlEventSetCreate", &events_) != kSuccess) return false;
  // Registering asks for all or nothing, and single-bit events are refused where the GPU has none.
  const U64 all = kSingleBit | kDoubleBit | kXid;
  const U64 least = kXid;
  return call("nvmlDeviceRegisterEvents", device, all, events_) == kSuccess ||
         call("nvmlDeviceRegisterEvents", device, least, events_) == kSuccess;
}

std::optional<NvmlEvent> Nvml::next_event(unsigned timeout_ms) {
  EventData data{};
  if (events_ == nullptr) return std::nullopt;
  const int code = call("nvmlEventSetWait_v2", events_, &data, timeout_ms);
  if (code == kSuccess) return event_of(data);
  if (code == kTimeout || std::exchange(wait_refused_, true)) return std::nullopt;
  return NvmlEvent{.text =
                       fmt::format("Xids are unknown: nvmlEventSetWait_v2 ended with {}", code)};
}

}  // namespace tidemark
