// What the kernel's files say of this machine, under a root that tests can replace.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tidemark {

/// A PCI device of vendor 0x10de, or a device file /dev/nvidia*: a GPU may be there even where no
/// driver can be loaded.
bool nvidia_present(const std::filesystem::path& root = "/");

/// The version of the loaded kernel module nvidia, "580.105.08"; empty where none is loaded.
std::string driver_module(const std::filesystem::path& root = "/");

/// What the kernel tells the time by, "tsc"; empty where it does not say.
std::string clock_source(const std::filesystem::path& root = "/");

/// Whether the kernel has an InfiniBand or RoCE device.
bool infiniband_present(const std::filesystem::path& root = "/");

/// PRETTY_NAME of /etc/os-release; empty where it is not said.
std::string os_name(const std::filesystem::path& root = "/");

/// The first "model name" of /proc/cpuinfo; empty on machines that have none (Arm).
std::string cpu_model(const std::filesystem::path& root = "/");

/// Changes at each boot and is the same in all containers of a machine; empty where not readable.
std::string boot_id(const std::filesystem::path& root = "/");

/// Bytes of /proc/meminfo that processes can still have; 0 where it does not say.
std::uint64_t free_memory(const std::filesystem::path& root = "/");

/// Processes of this memory cgroup (version 1 or 2) that the OOM killer has ended so far; nothing
/// where there is no such count.
std::optional<std::uint64_t> oom_kills(const std::filesystem::path& root = "/");

}  // namespace tidemark
