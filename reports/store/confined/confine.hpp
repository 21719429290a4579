// Takes from the calling process what the reading of a stranger's file does not need: other files,
// memory, time, and the right to do anything but compute and write down what it has read.
#pragma once

#include <cstdint>
#include <span>

namespace tidemark::reports {

struct Confinement {
  std::uint64_t memory_bytes = 0;  // that it may map beside what it has already
  std::uint64_t cpu_s = 0;
  bool filter = true;  // false: as on a kernel without seccomp
};

/// Confines the calling process for good. Of its open files only `keep` stay, and it can open no
/// other: not by the limits (no free descriptor), and not by the filter. Returns whether the kernel
/// took the filter, which also refuses every other call that reaches out of the process. Throws
/// ReportError when a limit cannot be set. Where sanitizers watch, two descriptors are left for a
/// pipe of theirs: there the filter alone refuses files.
bool confine(std::span<const int> keep, const Confinement& confinement);

}  // namespace tidemark::reports
