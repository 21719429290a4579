// A stand-in for libnvidia-ml.so.1 with two GPUs, for tests where there is no driver: "GPU-fake",
// and one that has fallen off the bus. With FAKE_NVML=FUNCTION=CODE both are healthy, and that
// function returns that code; nvmlDeviceGetHandleByIndex_v2 of the second alone.
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

int the_gpu = 0, the_second_gpu = 0;
int the_event_set = 0;
std::atomic<int> started{0};
std::atomic<int> events_left{0};

// Of the environment, so that a test reaches the processes it starts.
std::string_view setting(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool healthy() { return setting("FAKE_NVML").find('=') != std::string_view::npos; }

// What the function that calls this must return instead of an answer; kSuccess: it answers.
int refusal(const char* function = __builtin_FUNCTION()) {
  const std::string_view text = setting("FAKE_NVML");
  const std::size_t end = text.find('=');
  if (end == std::string_view::npos || text.substr(0, end) != function) return kSuccess;
  return std::atoi(text.data() + end + 1);
}

int refusal_of(void* device, const char* function = __builtin_FUNCTION()) {
  const bool known = device == &the_gpu || device == &the_second_gpu;
  return started > 0 && known ? refusal(function) : kInvalidArgument;
}

int text(void* device, const char* says, char* out, unsigned length,
         const char* function = __builtin_FUNCTION()) {
  if (const int code = refusal_of(device, function); code != kSuccess) return code;
  if (length <= std::strlen(says)) return kInvalidArgument;
  std::strcpy(out, says);
  return kSuccess;
}

int number(void* device, unsigned says, unsigned* out,
           const char* function = __builtin_FUNCTION()) {
  if (const int code = refusal_of(device, function); code != kSuccess) return code;
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
  if (const int code = refusal(); code != kSuccess) return code;
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
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  *device = index == 0 ? &the_gpu : &the_second_gpu;
  if (index == 0) return kSuccess;
  return healthy() ? refusal() : 15;  // NVML_ERROR_GPU_IS_LOST
}
int nvmlDeviceGetUUID(void* device, char* out, unsigned n) {
  return text(device, device == &the_gpu ? "GPU-fake" : "GPU-fake-1", out, n);
}
int nvmlDeviceGetName(void* device, char* out, unsigned n) {
  return text(device, "NVIDIA H200", out, n);
}
int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  if (const int code = refusal_of(device); code != kSuccess) return code;
  *major = 9;
  *minor = 0;
  return kSuccess;
}
int nvmlDeviceGetComputeMode(void* device, unsigned* out) { return number(device, 3, out); }
int nvmlDeviceGetP2PStatus(void* device, void* other, int, unsigned* out) {
  return device == other ? kInvalidArgument : number(device, 0, out);
}
int nvmlDeviceGetDefaultApplicationsClock(void* device, int clock, unsigned* out) {
  return number(device, clock == 1 ? 1980 : 0, out);
}

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
  if (const int code = refusal_of(device); code != kSuccess) return code;
  std::memset(info, 0, 68);
  std::strcpy(static_cast<char*>(info) + 36, "00000000:1B:00.0");
  return kSuccess;
}

int nvmlDeviceGetEccMode(void* device, unsigned* now, unsigned* pending) {
  *pending = healthy() ? 1 : 0;
  return number(device, 1, now);
}
int nvmlDeviceGetMigMode(void* device, unsigned* now, unsigned* pending) {
  *pending = healthy() ? 0 : 1;
  return number(device, 0, now);
}
int nvmlDeviceGetPersistenceMode(void* device, unsigned* out) { return number(device, 1, out); }

int nvmlDeviceGetPowerManagementLimit(void* device, unsigned* out) {
  return number(device, 650'500, out);
}
int nvmlDeviceGetPowerManagementDefaultLimit(void* device, unsigned* out) {
  return number(device, 650'500, out);
}
int nvmlDeviceGetApplicationsClock(void* device, int clock, unsigned* out) {
  return number(device, clock == 1 ? (healthy() ? 1980 : 1830) : clock == 2 ? 3201 : 0, out);
}
int nvmlDeviceGetMaxClockInfo(void* device, int clock, unsigned* out) {
  return number(device, clock == 1 ? 1980 : 0, out);
}
int nvmlDeviceGetNvLinkState(void* device, unsigned link, unsigned* out) {
  return link < 18 ? number(device, link < 4 || healthy() ? 1 : 0, out) : kInvalidArgument;
}
int nvmlDeviceGetTotalEccErrors(void* device, int type, int counter, unsigned long long* out) {
  if (const int code = refusal_of(device); code != kSuccess) return code;
  if (counter != 0) return kInvalidArgument;
  *out = healthy() ? 0 : type == 0 ? 5'000'000'000ULL : 2;
  return kSuccess;
}
int nvmlDeviceGetRemappedRows(void* device, unsigned* corrected, unsigned* uncorrected,
                              unsigned* pending, unsigned* failed) {
  *corrected = 7;
  *uncorrected = 8;
  *failed = healthy() ? 0 : 9;
  return number(device, healthy() ? 0 : 1, pending);
}

// Rises from call to call where the stand-in is "noisy".
int nvmlDeviceGetPcieReplayCounter(void* device, unsigned* out) {
  static std::atomic<unsigned> replays{40};
  return number(device, setting("FAKE_NVML") == "noisy" ? replays++ : 40, out);
}
// Of links that are up.
int nvmlDeviceGetNvLinkErrorCounter(void* device, unsigned link, int counter,
                                    unsigned long long* out) {
  if (const int code = refusal_of(device); code != kSuccess) return code;
  if ((link >= 4 && !healthy()) || counter > 3) return kInvalidArgument;
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
  return refusal_of(device);
}

// 70 processes, of 24 bytes each; the first is FAKE_NVML_PROCESS where that is set. None where the
// GPU is healthy.
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, char* infos) {
  if (const int code = refusal_of(device); code != kSuccess) return code;
  const unsigned room = *count;
  *count = healthy() ? 0 : 70;
  if (healthy()) return kSuccess;
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
  if (const int code = refusal(); code != kSuccess) return code;
  *set = &the_event_set;
  return kSuccess;
}
int nvmlEventSetFree(void* set) { return set == &the_event_set ? kSuccess : kInvalidArgument; }
int nvmlDeviceRegisterEvents(void* device, unsigned long long types, void* set) {
  if ((types & 1) != 0) return kNotSupported;  // no single-bit events
  if (const int code = refusal_of(device); code != kSuccess) return code;
  if (set != &the_event_set || types != 8) return kInvalidArgument;
  events_left = healthy() ? 0 : 1;
  return kSuccess;
}
// Tells one Xid 79 after each registration.
int nvmlEventSetWait_v2(void* set, char* data, unsigned) {
  if (set != &the_event_set) return kInvalidArgument;
  if (const int code = refusal(); code != kSuccess) return code;
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
