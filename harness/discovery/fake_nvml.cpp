// A stand-in for libnvidia-ml.so.1 with one GPU, "GPU-fake", for tests where there is no driver.
// Written from nvml.h's documentation apart from nvml.cpp: it spells out offsets by itself.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidArgument = 2;
constexpr int kNotSupported = 3;
constexpr int kNotFound = 6;
constexpr int kInsufficientSize = 7;
constexpr int kTimeout = 10;

int the_gpu = 0;
int the_event_set = 0;
std::atomic<int> started{0};
std::atomic<int> events_left{0};

// Of the environment, so that a test reaches the processes it starts.
std::string_view setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool knows(void* device) { return started > 0 && device == &the_gpu; }

int text(void* device, const char* says, char* out, unsigned length) {
  if (!knows(device) || length <= std::strlen(says)) return kInvalidArgument;
  std::strcpy(out, says);
  return kSuccess;
}

int number(void* device, unsigned says, unsigned* out) {
  if (!knows(device)) return kInvalidArgument;
  *out = says;
  return kSuccess;
}

}  // namespace

// The names are nvml.h's, and what is copied are no strings.
// NOLINTBEGIN(readability-identifier-naming,bugprone-not-null-terminated-result)
extern "C" {

int nvmlInit_v2() {
  while (setting("FAKE_NVML") == "stuck") std::this_thread::sleep_for(std::chrono::hours(1));
  if (setting("FAKE_NVML") == "refuses") return 9;  // NVML_ERROR_DRIVER_NOT_LOADED
  ++started;
  return kSuccess;
}

int nvmlShutdown() {
  if (started == 0) return 1;  // NVML_ERROR_UNINITIALIZED
  --started;
  return kSuccess;
}

int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  if (std::strcmp(uuid, "GPU-fake") != 0) return kNotFound;
  *device = &the_gpu;
  return kSuccess;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char* pci, void** device) {
  if (std::strcmp(pci, "0000:1b:00.0") != 0) return kNotFound;
  *device = &the_gpu;
  return kSuccess;
}

const char* nvmlErrorString(int) { return "Driver Not Loaded"; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return kSuccess;
}
// The second GPU has fallen off the bus.
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index != 0) return 15;  // NVML_ERROR_GPU_IS_LOST
  *device = &the_gpu;
  return kSuccess;
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned n) {
  return text(device, "GPU-fake", out, n);
}
int nvmlDeviceGetName(void* device, char* out, unsigned n) {
  return text(device, "NVIDIA H200", out, n);
}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  if (!knows(device)) return kInvalidArgument;
  *major = 9;
  *minor = 0;
  return kSuccess;
}
int nvmlDeviceGetComputeMode(void* device, unsigned* out) { return number(device, 3, out); }
int nvmlDeviceGetDefaultApplicationsClock(void* device, int clock, unsigned* out) {
  return number(device, clock == 1 ? 1980 : 0, out);
}
// nvmlDeviceGetRetiredPagesPendingStatus is refused, as Hopper GPUs do.
int nvmlDeviceGetRetiredPagesPendingStatus(void*, unsigned*) { return kNotSupported; }

int nvmlDeviceGetSerial(void* device, char* out, unsigned n) { return text(device, "165", out, n); }
int nvmlDeviceGetVbiosVersion(void* device, char* out, unsigned n) {
  return text(device, "96.00.A5.00.01", out, n);
}
int nvmlDeviceGetBoardPartNumber(void* device, char* out, unsigned n) {
  return text(device, "900-21010-0040-000", out, n);
}
int nvmlSystemGetDriverVersion(char* out, unsigned n) {
  return text(&the_gpu, "580.105.08", out, n);
}

int nvmlDeviceGetPciInfo_v3(void* device, void* info) {
  if (!knows(device)) return kInvalidArgument;
  std::memset(info, 0, 68);
  std::strcpy(static_cast<char*>(info) + 36, "00000000:1B:00.0");
  return kSuccess;
}

int nvmlDeviceGetEccMode(void* device, unsigned* now, unsigned* pending) {
  *pending = 0;
  return number(device, 1, now);
}
int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* pending) {
  *pending = 1;
  return number(device, 0, now);
}
// nvmlDeviceGetPersistenceMode is left out: the symbol is missing.

int nvmlDeviceGetPowerManagementLimit(void* device, unsigned* out) {
  return number(device, 650'500, out);
}
int nvmlDeviceGetPowerManagementDefaultLimit(void*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetApplicationsClock(void* device, int clock, unsigned* out) {
  return number(device, clock == 1 ? 1830 : clock == 2 ? 3201 : 0, out);
}
int nvmlDeviceGetMaxClockInfo(void* device, int clock, unsigned* out) {
  return number(device, clock == 1 ? 1980 : 0, out);
}
int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* out) {
  return link < 18 ? number(device, link < 4 ? 1 : 0, out) : kInvalidArgument;
}
int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* out) {
  if (!knows(device) || counter != 0) return kInvalidArgument;
  *out = type == 0 ? 5'000'000'000ULL : 2;
  return kSuccess;
}
int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failed) {
  *corrected = 7;
  *uncorrected = 8;
  *failed = 9;
  return number(device, 1, pending);
}

// Rises from call to call where the stand-in is "noisy".
int nvmlDeviceGetPcieReplayCounter(void* device, unsigned* out) {
  static std::atomic<unsigned> replays{40};
  return number(device, setting("FAKE_NVML") == "noisy" ? replays++ : 40, out);
}
// Of links that are up.
int nvmlDeviceGetNvLinkErrorCounter(void* device, unsigned link, int counter,
                                    unsigned long long* out) {
  if (!knows(device) || link >= 4 || counter > 3) return kInvalidArgument;
  *out = 10ULL * link + static_cast<unsigned>(counter);
  return kSuccess;
}

int nvmlDeviceGetClockInfo(void* device, int clock, unsigned* out) {
  return number(device, clock == 1 ? 1755 : clock == 2 ? 3200 : 0, out);
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* out) { return number(device, 433'250, out); }
int nvmlDeviceGetTemperature(void* device, int sensor, unsigned* out) {
  return sensor == 0 ? number(device, 61, out) : kInvalidArgument;
}
int nvmlDeviceGetUtilizationRates(void* device, unsigned* rates) {
  rates[1] = 20;
  return number(device, 97, rates);
}
// Only the name from before driver 535.
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* out) {
  *out = 0x4;
  return knows(device) ? kSuccess : kInvalidArgument;
}

// 70 processes, of 24 bytes each; the first is FAKE_NVML_PROCESS where that is set.
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, char* infos) {
  if (!knows(device)) return kInvalidArgument;
  const unsigned room = *count;
  *count = 70;
  if (room < 70) return kInsufficientSize;
  for (unsigned i = 0; i < 70; ++i) {
    const bool given = i == 0 && !setting("FAKE_NVML_PROCESS").empty();
    const unsigned pid =
        given ? static_cast<unsigned>(std::atoi(getenv("FAKE_NVML_PROCESS"))) : 4'000'000 + i;
    std::memcpy(infos + 24 * i, &pid, sizeof pid);
  }
  return kSuccess;
}

int nvmlEventSetCreate(void** set) {
  *set = &the_event_set;
  return kSuccess;
}
int nvmlEventSetFree(void* set) { return set == &the_event_set ? kSuccess : kInvalidArgument; }
int nvmlDeviceRegisterEvents(void* device, unsigned long long types, void* set) {
  if ((types & 1) != 0) return kNotSupported;  // no single-bit events
  if (!knows(device) || set != &the_event_set || types != 8) return kInvalidArgument;
  events_left = 1;
  return kSuccess;
}
// Tells one Xid 79 after each registration.
int nvmlEventSetWait_v2(void* set, char* data, unsigned) {
  if (set != &the_event_set) return kInvalidArgument;
  if (events_left == 0) return kTimeout;
  --events_left;
  void* const device = &the_gpu;
  const unsigned long long type = 8;
  const unsigned long long xid = 79;
  std::memcpy(data, &device, 8);
  std::memcpy(data + 8, &type, 8);
  std::memcpy(data + 16, &xid, 8);
  std::memset(data + 24, 0xff, 8);
  return kSuccess;
}

}  // extern "C"
// NOLINTEND(readability-identifier-naming,bugprone-not-null-terminated-result)
