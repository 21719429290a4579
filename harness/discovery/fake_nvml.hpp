// Tells the stand-in for NVML how to behave.
#pragma once

#include <dlfcn.h>

#include <stdexcept>

namespace tidemark {

enum class FakeNvmlMode : int { answers = 0, refuses = 1, stuck = 2 };

/// Sets the mode of the library at `path` for as long as the object lives.
class FakeNvml {
 public:
  FakeNvml(const char* path, FakeNvmlMode mode) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    set_ = reinterpret_cast<void (*)(int)>(dlsym(library, "fake_nvml_mode"));
    set_(static_cast<int>(mode));
  }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;
  ~FakeNvml() { set_(static_cast<int>(FakeNvmlMode::answers)); }

 private:
  void (*set_)(int) = nullptr;
};

}  // namespace tidemark
