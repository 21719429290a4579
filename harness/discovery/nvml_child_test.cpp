// Tests of the child that asks NVML, with the built program and a stand-in NVML with one GPU.
#include "harness/discovery/gpu_inventory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "harness/base/clock.hpp"
#include "harness/discovery/telemetry.hpp"
#include "harness/testing/fake_nvml.hpp"

namespace tidemark {
namespace {

const NvmlChild kFake = {.program = TIDEMARK_BINARY, .library = TIDEMARK_FAKE_NVML};

const GpuProperties kGpu = {.uuid = "GPU-fake",
                            .pci = "0000:1b:00.0",
                            .name = "NVIDIA H200",
                            .compute_capability = 90,
                            .sm_count = 132,
                            .memory_bytes = 150'754'820'096,
                            .driver_version = 13010,
                            .runtime_version = 13000};

const GpuProperties kStranger = {.uuid = "GPU-other", .pci = "0000:2c:00.0", .name = "NVIDIA H100"};

TEST(AskNvml, adds_what_nvml_knows_to_what_cuda_said) {
  const auto answers = ask_nvml({kGpu}, kFake);
  ASSERT_EQ(answers.size(), 1U);
  const GpuRecord& record = answers[0].record;
  EXPECT_TRUE(record.nvml);
  EXPECT_EQ(record.uuid, "GPU-fake");
  EXPECT_EQ(record.pci, "0000:1b:00.0");
  EXPECT_EQ(record.name, "NVIDIA H200");
  EXPECT_EQ(record.compute_capability, 90U);
  EXPECT_EQ(record.sm_count, 132U);
  EXPECT_EQ(record.memory_bytes, 150'754'820'096U);
  EXPECT_EQ(record.cuda_driver, 13010U);
  EXPECT_EQ(record.cuda_runtime, 13000U);
  EXPECT_EQ(record.serial, "165");
  EXPECT_EQ(record.driver, "580.105.08");
  EXPECT_EQ(record.power_limit_w, 650.5);
  EXPECT_EQ(record.default_power_limit_w, 650.5);
}

TEST(AskNvml, answers_in_the_order_asked_also_for_a_gpu_that_nvml_does_not_know) {
  const auto answers = ask_nvml({kStranger, kGpu}, kFake);
  ASSERT_EQ(answers.size(), 2U);
  EXPECT_EQ(answers[0].record.uuid, "GPU-other");
  EXPECT_EQ(answers[0].record.name, "NVIDIA H100");
  EXPECT_FALSE(answers[0].record.nvml);
  EXPECT_TRUE(answers[1].record.nvml);
}

TEST(AskNvml, finds_a_gpu_by_its_pci_address_where_the_uuid_is_a_slice) {
  GpuProperties slice = kGpu;
  slice.uuid = "MIG-1";
  const auto answers = ask_nvml({slice}, kFake);
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(answers[0].record.nvml);
  EXPECT_EQ(answers[0].record.uuid, "MIG-1");
}

TEST(AskNvml, names_the_processes_on_the_gpu) {
  const auto answers = ask_nvml({kGpu}, kFake);
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_EQ(answers[0].foreign_processes.size(), 70U);
  EXPECT_EQ(answers[0].foreign_processes[0], 4'000'000U);
}

TEST(AskNvml, does_not_name_the_process_that_asks) {
  setenv("FAKE_NVML_PROCESS", std::to_string(getpid()).c_str(), 1);
  const auto answers = ask_nvml({kGpu}, kFake);
  unsetenv("FAKE_NVML_PROCESS");
  ASSERT_EQ(answers.size(), 1U);
  ASSERT_EQ(answers[0].foreign_processes.size(), 69U);
  EXPECT_EQ(answers[0].foreign_processes[0], 4'000'001U);
}

TEST(AskNvml, knows_what_cuda_said_where_there_is_no_nvml) {
  const auto answers =
      ask_nvml({kGpu}, {.program = TIDEMARK_BINARY, .library = "libno-such-thing.so.1"});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].record.sm_count, 132U);
  EXPECT_FALSE(answers[0].record.nvml);
  EXPECT_TRUE(answers[0].foreign_processes.empty());
}

TEST(AskNvml, does_not_wait_for_an_nvml_that_never_answers) {
  const FakeNvml fake("stuck");
  const auto answers =
      ask_nvml({kGpu}, {.program = TIDEMARK_BINARY, .library = TIDEMARK_FAKE_NVML, .seconds = 0.5});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_FALSE(answers[0].record.nvml);
}

bool maps(const std::string& file) {
  std::ifstream map("/proc/self/maps");
  for (std::string line; std::getline(map, line);) {
    if (line.find(file) != std::string::npos) return true;
  }
  return false;
}

/// The stand-in under a name of this process alone: other tests load the stand-in themselves.
class CopyOfFakeNvml {
 public:
  CopyOfFakeNvml()
      : path_(std::filesystem::temp_directory_path() /
              ("tidemark-fake-nvml-" + std::to_string(getpid()) + ".so")) {
    std::filesystem::copy_file(TIDEMARK_FAKE_NVML, path_);
  }
  CopyOfFakeNvml(const CopyOfFakeNvml&) = delete;
  CopyOfFakeNvml& operator=(const CopyOfFakeNvml&) = delete;
  ~CopyOfFakeNvml() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Supervisor, never_has_nvml_mapped) {
  const CopyOfFakeNvml copy;
  const NvmlChild child = {.program = TIDEMARK_BINARY, .library = copy.path()};
  EXPECT_TRUE(ask_nvml({kGpu}, child).at(0).record.nvml);
  const Telemetry telemetry({{.gpu = 0, .uuid = "GPU-fake"}}, child);
  float sm_mhz = NAN;
  for (int i = 0; i < 2000 && std::isnan(sm_mhz); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    sm_mhz = telemetry.nearest(0, unix_s()).sm_mhz;
  }
  EXPECT_EQ(sm_mhz, 1755.0F);
  EXPECT_FALSE(maps(copy.path()));
}

}  // namespace
}  // namespace tidemark
