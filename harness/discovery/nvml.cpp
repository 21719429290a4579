// NVML's stable C interface, declared here because nvml.h need not be where tidemark is built.
// Names, values and layouts: nvml.h of the NVIDIA Management Library, API version 12.
#include "harness/discovery/nvml.hpp"

#include <dlfcn.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "reports/journal/hardware_events.hpp"

namespace tidemark::harness {
namespace {

constexpr int kSuccess = 0;              // NVML_SUCCESS
constexpr int kInsufficientSize = 7;     // NVML_ERROR_INSUFFICIENT_SIZE
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

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

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
  NvmlDevice device = nullptr;
  return call("nvmlDeviceGetHandleByUUID", uuid.c_str(), &device) == kSuccess ? device : nullptr;
}

NvmlDevice Nvml::device_of_pci(const std::string& pci) const {
  NvmlDevice device = nullptr;
  return call("nvmlDeviceGetHandleByPciBusId_v2", pci.c_str(), &device) == kSuccess ? device
                                                                                    : nullptr;
}

std::vector<NvmlDevice> Nvml::devices() const {
  unsigned count = 0;
  std::vector<NvmlDevice> devices;
  if (call("nvmlDeviceGetCount_v2", &count) != kSuccess) return devices;
  for (unsigned i = 0; i < count; ++i) {
    NvmlDevice device = nullptr;
    if (call("nvmlDeviceGetHandleByIndex_v2", i, &device) != kSuccess) device = nullptr;
    devices.push_back(device);
  }
  return devices;
}

std::int32_t Nvml::peer_status(NvmlDevice device, NvmlDevice other) const {
  if (device == other) return -1;
  for (const unsigned capability : {kP2pRead, kP2pWrite}) {
    unsigned status = 0;
    if (call("nvmlDeviceGetP2PStatus", device, other, capability, &status) != kSuccess) return -1;
    if (status != 0) return static_cast<std::int32_t>(status);
  }
  return 0;
}

GpuState Nvml::state(NvmlDevice device, const std::vector<NvmlDevice>& devices) const {
  GpuState state;
  std::array<char, 96> text{};  // NVML_DEVICE_NAME_V2_BUFFER_SIZE and _UUID_V2_ are 96
  const auto length = static_cast<unsigned>(text.size() - 1);
  if (call("nvmlDeviceGetUUID", device, text.data(), length) == kSuccess)
    state.record.uuid = text.data();
  text.fill('\0');
  if (call("nvmlDeviceGetName", device, text.data(), length) == kSuccess)
    state.record.name = text.data();
  int major = 0;
  int minor = 0;
  if (call("nvmlDeviceGetCudaComputeCapability", device, &major, &minor) == kSuccess)
    state.record.compute_capability = static_cast<std::uint32_t>(10 * major + minor);
  describe(device, state.record);
  state.processes = compute_processes(device);
  unsigned now = 0;
  unsigned pending = 0;
  if (call("nvmlDeviceGetComputeMode", device, &now) == kSuccess)
    state.compute_mode = static_cast<std::int32_t>(now);
  if (call("nvmlDeviceGetEccMode", device, &now, &pending) == kSuccess)
    state.ecc_pending = pending == kEnabled ? 1 : 0;
  if (call("nvmlDeviceGetMigMode", device, &now, &pending) == kSuccess)
    state.mig_pending = pending == kEnabled ? 1 : 0;
  if (call("nvmlDeviceGetRetiredPagesPendingStatus", device, &pending) == kSuccess)
    state.retired_pages_pending = pending == kEnabled ? 1 : 0;
  unsigned corrected = 0;
  unsigned uncorrected = 0;
  unsigned failed = 0;
  if (call("nvmlDeviceGetRemappedRows", device, &corrected, &uncorrected, &pending, &failed) ==
      kSuccess)
    state.remapped_rows_failed = failed;
  for (unsigned link = 0; link < kMostNvlinks; ++link)
    if (call("nvmlDeviceGetNvLinkState", device, link, &now) == kSuccess) ++state.nvlinks;
  if (call("nvmlDeviceGetDefaultApplicationsClock", device, kClockSm, &now) == kSuccess)
    state.default_app_sm_mhz = now;
  state.throttle_reasons = read(device).throttle_reasons;
  for (const NvmlDevice other : devices) state.peers.push_back(peer_status(device, other));
  return state;
}

void Nvml::describe(NvmlDevice device, GpuRecord& record) const {
  record.nvml = true;
  describe_board(device, record);
  describe_settings(device, record);
  describe_health(device, record);
}

void Nvml::describe_board(NvmlDevice device, GpuRecord& record) const {
  // NVML_DEVICE_SERIAL_BUFFER_SIZE is 30, _VBIOS_VERSION_ 32, _PART_NUMBER_ and
  // NVML_SYSTEM_DRIVER_VERSION_ 80.
  std::array<char, 96> text{};
  const auto length = static_cast<unsigned>(text.size() - 1);
  const auto text_of = [&](const char* function) {
    text.fill('\0');
    return call(function, device, text.data(), length) == kSuccess ? text.data() : "";
  };
  record.serial = text_of("nvmlDeviceGetSerial");
  record.vbios = text_of("nvmlDeviceGetVbiosVersion");
  record.board_part = text_of("nvmlDeviceGetBoardPartNumber");
  text.fill('\0');
  if (call("nvmlSystemGetDriverVersion", text.data(), length) == kSuccess)
    record.driver = text.data();
  PciInfo pci{};
  if (record.pci.empty() && call("nvmlDeviceGetPciInfo_v3", device, &pci) == kSuccess)
    record.pci = pci.bus_id;
}

void Nvml::describe_settings(NvmlDevice device, GpuRecord& record) const {
  unsigned now = 0;
  unsigned pending = 0;
  if (call("nvmlDeviceGetEccMode", device, &now, &pending) == kSuccess)
    record.ecc_enabled = now == kEnabled ? 1 : 0;
  if (call("nvmlDeviceGetMigMode", device, &now, &pending) == kSuccess)
    record.mig_enabled = now == kEnabled ? 1 : 0;
  if (call("nvmlDeviceGetPersistenceMode", device, &now) == kSuccess)
    record.persistence = now == kEnabled ? 1 : 0;

  const auto watts = [&](const char* function) {
    unsigned milliwatts = 0;
    return call(function, device, &milliwatts) == kSuccess ? milliwatts / 1000.0 : kUnknown;
  };
  record.power_limit_w = watts("nvmlDeviceGetPowerManagementLimit");
  record.default_power_limit_w = watts("nvmlDeviceGetPowerManagementDefaultLimit");
  const auto mhz = [&](const char* function, unsigned clock) {
    unsigned value = 0;
    return call(function, device, clock, &value) == kSuccess ? value : 0;
  };
  record.app_sm_mhz = mhz("nvmlDeviceGetApplicationsClock", kClockSm);
  record.app_memory_mhz = mhz("nvmlDeviceGetApplicationsClock", kClockMemory);
  record.max_sm_mhz = mhz("nvmlDeviceGetMaxClockInfo", kClockSm);
}

void Nvml::describe_health(NvmlDevice device, GpuRecord& record) const {
  record.nvlinks_up = record.nvlinks_up_mask = 0;
  for (unsigned link = 0; link < kMostNvlinks; ++link) {
    unsigned active = 0;
    if (call("nvmlDeviceGetNvLinkState", device, link, &active) == kSuccess && active == kEnabled) {
      ++record.nvlinks_up;
      record.nvlinks_up_mask |= 1U << link;
    }
  }
  const auto errors = [&](unsigned type) {
    U64 count = 0;
    return call("nvmlDeviceGetTotalEccErrors", device, type, kVolatile, &count) == kSuccess ? count
                                                                                            : 0;
  };
  record.ecc_corrected = errors(kCorrected);
  record.ecc_uncorrected = errors(kUncorrected);
  unsigned corrected = 0;
  unsigned uncorrected = 0;
  unsigned is_pending = 0;
  unsigned failed = 0;
  if (call("nvmlDeviceGetRemappedRows", device, &corrected, &uncorrected, &is_pending, &failed) ==
      kSuccess)
    record.remapped_rows_pending = is_pending;
}

std::vector<ErrorCounter> Nvml::error_counters(NvmlDevice device) const {
  std::vector<ErrorCounter> counters;
  const auto add = [&](std::string name, const char* function, auto... arguments) {
    U64 errors = 0;
    if (call(function, device, arguments..., &errors) == kSuccess)
      counters.push_back({.name = std::move(name), .errors = errors});
  };
  add("corrected ECC errors", "nvmlDeviceGetTotalEccErrors", kCorrected, kVolatile);
  add("uncorrected ECC errors", "nvmlDeviceGetTotalEccErrors", kUncorrected, kVolatile);
  unsigned corrected = 0, uncorrected = 0, pending = 0, failed = 0, replays = 0;
  if (call("nvmlDeviceGetRemappedRows", device, &corrected, &uncorrected, &pending, &failed) ==
      kSuccess)
    counters.push_back({.name = "remapped rows", .errors = std::uint64_t{corrected} + uncorrected});
  if (call("nvmlDeviceGetPcieReplayCounter", device, &replays) == kSuccess)
    counters.push_back({.name = "PCIe replays", .errors = replays});
  for (unsigned link = 0; link < kMostNvlinks; ++link) {
    constexpr const char* kOfLink = "nvmlDeviceGetNvLinkErrorCounter";
    add(fmt::format("NVLink {} replays", link), kOfLink, link, kLinkReplay);
    add(fmt::format("NVLink {} recoveries", link), kOfLink, link, kLinkRecovery);
    // Not NVML_NVLINK_ERROR_DL_CRC_DATA: on an H100 (driver 580.159.04) it rises on all links that
    // nobody uses, from second to second (ci/baselines/h100-interleave.h5).
    add(fmt::format("NVLink {} CRC errors", link), kOfLink, link, kLinkCrcFlit);
  }
  return counters;
}

TelemetryPoint Nvml::read(NvmlDevice device) const {
  TelemetryPoint point{.at_unix_s = unix_now()};
  const auto number = [&](const char* function, auto... arguments) {
    unsigned value = 0;
    return call(function, device, arguments..., &value) == kSuccess ? static_cast<float>(value)
                                                                    : kUnknown;
  };
  point.sm_mhz = number("nvmlDeviceGetClockInfo", kClockSm);
  point.memory_mhz = number("nvmlDeviceGetClockInfo", kClockMemory);
  point.power_w = number("nvmlDeviceGetPowerUsage") / 1000;
  point.temperature_c = number("nvmlDeviceGetTemperature", kSensorGpu);
  Utilization rates{};
  point.utilisation = call("nvmlDeviceGetUtilizationRates", device, &rates) == kSuccess
                          ? static_cast<float>(rates.gpu)
                          : kUnknown;
  U64 reasons = 0;
  // Renamed in driver 535; the old name stayed.
  if (call("nvmlDeviceGetCurrentClocksEventReasons", device, &reasons) != kSuccess)
    call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &reasons);
  point.throttle_reasons = reasons;
  return point;
}

bool Nvml::lost(NvmlDevice device) const {
  unsigned milliwatts = 0;
  return call("nvmlDeviceGetPowerUsage", device, &milliwatts) == kGpuIsLost;
}

std::vector<std::uint32_t> Nvml::compute_processes(NvmlDevice device) const {
  constexpr const char* kFunction = "nvmlDeviceGetComputeRunningProcesses_v3";
  std::vector<ProcessInfo> infos(64);
  auto count = static_cast<unsigned>(infos.size());
  int code = call(kFunction, device, &count, infos.data());
  if (code == kInsufficientSize) {  // `count` now says how many there are; a few may join
    infos.resize(count + std::size_t{64});
    count = static_cast<unsigned>(infos.size());
    code = call(kFunction, device, &count, infos.data());
  }
  std::vector<std::uint32_t> pids;
  if (code != kSuccess) return pids;
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
  if (events_ == nullptr || call("nvmlEventSetWait_v2", events_, &data, timeout_ms) != kSuccess)
    return std::nullopt;
  return event_of(data);
}

}  // namespace tidemark::harness
