// Tests of what is read from /sys, /dev, /etc and /proc, on folders made for each test.
#include "harness/discovery/node_files.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "harness/room.hpp"
#include "reports/scratch_folder.hpp"

namespace tidemark::harness {
namespace {

namespace fs = std::filesystem;

class Root {
 public:
  const Root& file(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return *this;
  }
  const fs::path& path() const { return path_; }

 private:
  ScratchFolder folder_;
  fs::path path_ = folder_.path();
};

TEST(NvidiaPresent, is_false_on_an_empty_machine) {
  const Root root;
  EXPECT_FALSE(nvidia_present(root.path()));
}

TEST(NvidiaPresent, is_false_beside_devices_of_other_vendors) {
  const Root root;
  root.file("sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n").file("dev/null", "");
  EXPECT_FALSE(nvidia_present(root.path()));
}

TEST(NvidiaPresent, sees_a_pci_device_without_any_driver) {
  const Root root;
  root.file("sys/bus/pci/devices/0000:00:01.0/vendor", "0x8086\n")
      .file("sys/bus/pci/devices/0000:1b:00.0/vendor", "0x10de\n");
  EXPECT_TRUE(nvidia_present(root.path()));
}

TEST(NvidiaPresent, sees_a_device_file_without_any_pci_device) {
  const Root root;
  root.file("dev/nvidiactl", "");
  EXPECT_TRUE(nvidia_present(root.path()));
}

TEST(OsName, is_the_pretty_name_without_its_quotes) {
  const Root root;
  root.file("etc/os-release", "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
  EXPECT_EQ(os_name(root.path()), "Debian GNU/Linux 12");
}

TEST(CpuModel, is_the_first_model_name) {
  const Root root;
  root.file("proc/cpuinfo", "processor\t: 0\nmodel\t\t: 143\nmodel name\t: Intel(R) Xeon(R)\n");
  EXPECT_EQ(cpu_model(root.path()), "Intel(R) Xeon(R)");
}

TEST(FreeMemory, is_what_is_available) {
  const Root root;
  root.file("proc/meminfo", "MemTotal:  16384 kB\nMemFree:  512 kB\nMemAvailable:   4096 kB\n");
  EXPECT_EQ(free_memory(root.path()), 4096U * 1024);
}

TEST(BootId, is_one_line) {
  const Root root;
  root.file("proc/sys/kernel/random/boot_id", "0b1e-77\n");
  EXPECT_EQ(boot_id(root.path()), "0b1e-77");
}

TEST(NodeFiles, say_nothing_where_there_is_nothing) {
  const Root root;
  root.file("proc/cpuinfo", "model name\t:\n").file("etc/os-release", "PRETTY_NAME\n");
  EXPECT_EQ(os_name(root.path()), "");
  EXPECT_EQ(cpu_model(root.path()), "");
  EXPECT_EQ(boot_id(root.path()), "");
}

}  // namespace
}  // namespace tidemark::harness
