// Tests of what is read from /sys, /dev, /etc and /proc, on folders made for each test.
#include "harness/discovery/node_files.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "reports/base/scratch_folder.hpp"

namespace tidemark {
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

TEST(OomKills, are_those_of_the_memory_cgroup_of_version_1) {
  const Root root;
  root.file("proc/self/cgroup", "5:devices:/\n4:memory:/slurm/job_7\n0::/\n")
      .file("sys/fs/cgroup/memory/memory.oom_control", "oom_kill_disable 0\noom_kill 9\n")
      .file("sys/fs/cgroup/memory/slurm/job_7/memory.oom_control",
            "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  EXPECT_EQ(oom_kills(root.path()), 3U);
}

TEST(OomKills, are_those_of_the_cgroup_of_version_2) {
  const Root root;
  root.file("proc/self/cgroup", "0::/user.slice/job 7\n")
      .file("sys/fs/cgroup/user.slice/job 7/memory.events", "low 0\nmax 5\noom 4\noom_kill 2\n");
  EXPECT_EQ(oom_kills(root.path()), 2U);
}

TEST(OomKills, of_a_container_that_does_not_see_its_path_are_those_of_its_top) {
  const Root root;
  root.file("proc/self/cgroup", "4:memory:/kubepods/pod1\n")
      .file("sys/fs/cgroup/memory/memory.oom_control", "oom_kill 1\n");
  EXPECT_EQ(oom_kills(root.path()), 1U);
}

TEST(OomKills, are_not_known_without_a_memory_cgroup) {
  const Root root;
  root.file("proc/self/cgroup", "5:devices:/\n0::/\n").file("sys/fs/cgroup/cgroup.procs", "1\n");
  EXPECT_EQ(oom_kills(root.path()), std::nullopt);
  EXPECT_EQ(oom_kills("/no/such/root"), std::nullopt);
}

TEST(NodeFiles, say_nothing_where_there_is_nothing) {
  const Root root;
  root.file("proc/cpuinfo", "model name\t:\n").file("etc/os-release", "PRETTY_NAME\n");
  EXPECT_EQ(os_name(root.path()), "");
  EXPECT_EQ(cpu_model(root.path()), "");
  EXPECT_EQ(boot_id(root.path()), "");
}

}  // namespace
}  // namespace tidemark
