// Tells the stand-in for NVML how to behave, also in the processes that a test starts.
#pragma once

#include <stdlib.h>

#include <string>

namespace tidemark {

/// For as long as the object lives, the stand-in "refuses" to start, is "stuck" while it starts, or
/// is "noisy": its GPU replays packets on PCIe. "nvmlDeviceGetName=3": both GPUs are healthy, and
/// this function returns 3, NVML_ERROR_NOT_SUPPORTED.
class FakeNvml {
 public:
  explicit FakeNvml(const std::string& mode) { setenv("FAKE_NVML", mode.c_str(), 1); }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;
  ~FakeNvml() { unsetenv("FAKE_NVML"); }
};

}  // namespace tidemark
