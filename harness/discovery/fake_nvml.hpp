// Tells the stand-in for NVML how to behave, also in the processes that a test starts.
#pragma once

#include <stdlib.h>

namespace tidemark::harness {

/// For as long as the object lives, the stand-in "refuses" to start, is "stuck" while it starts, or
/// is "noisy": its GPU replays packets on PCIe.
class FakeNvml {
 public:
  explicit FakeNvml(const char* mode) { setenv("FAKE_NVML", mode, 1); }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;
  ~FakeNvml() { unsetenv("FAKE_NVML"); }
};

}  // namespace tidemark::harness
