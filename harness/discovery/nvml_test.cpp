// Tests of what is read through NVML, against a stand-in library with one GPU.
#include "harness/discovery/nvml.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/testing/fake_nvml.hpp"

namespace tidemark {
namespace {

TEST(Nvml, is_not_there_where_the_library_is_not) {
  EXPECT_FALSE(Nvml::open("libno-such-thing.so.1").has_value());
}

TEST(Nvml, is_not_there_where_it_does_not_start) {
  const FakeNvml fake("refuses");
  EXPECT_FALSE(Nvml::open(TIDEMARK_FAKE_NVML).has_value());
}

TEST(Nvml, finds_a_gpu_by_uuid_and_by_pci) {
  const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
  ASSERT_TRUE(nvml.has_value());
  EXPECT_NE(nvml->device_of_uuid("GPU-fake"), nullptr);
  EXPECT_EQ(nvml->device_of_uuid("GPU-fake"), nvml->device_of_pci("0000:1b:00.0"));
  EXPECT_EQ(nvml->device_of_uuid("GPU-other"), nullptr);
}

TEST(Nvml, describes_a_gpu) {
  const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
  ASSERT_TRUE(nvml.has_value());
  GpuRecord record;
  nvml->describe(nvml->device_of_uuid("GPU-fake"), record);
  EXPECT_TRUE(record.nvml);
  EXPECT_EQ(record.serial, "165");
  EXPECT_EQ(record.vbios, "96.00.A5.00.01");
  EXPECT_EQ(record.board_part, "900-21010-0040-000");
  EXPECT_EQ(record.driver, "580.105.08");
  EXPECT_EQ(record.pci, "00000000:1B:00.0");
  EXPECT_EQ(record.ecc_enabled, 1);
  EXPECT_EQ(record.mig_enabled, 0);
  EXPECT_EQ(record.power_limit_w, 650.5);
  EXPECT_EQ(record.app_sm_mhz, 1830U);
  EXPECT_EQ(record.app_memory_mhz, 3201U);
  EXPECT_EQ(record.max_sm_mhz, 1980U);
  EXPECT_EQ(record.nvlinks_up, 4U);
  EXPECT_EQ(record.nvlinks_up_mask, 0xfU);
  EXPECT_EQ(record.ecc_corrected, 5'000'000'000U);
  EXPECT_EQ(record.ecc_uncorrected, 2U);
  EXPECT_EQ(record.remapped_rows_pending, 1U);
}

// Of an unsupported query, one that failed (NVML_ERROR_UNKNOWN) and one that the library lacks.
constexpr int kRefusals[] = {3, 999, 13};

std::string refused(const char* function, int code) {
  return function + ("=" + std::to_string(code));
}

TEST(Nvml, a_refused_query_leaves_its_fields_unknown) {
  struct Query {
    const char* function;
    bool (*unknown)(const GpuRecord& record);
  };
  constexpr std::uint32_t kNo32 = 0xffffffff;
  constexpr std::uint64_t kNo64 = ~std::uint64_t{};
  const Query queries[] = {
      {"nvmlDeviceGetSerial", [](const auto& gpu) { return gpu.serial.empty(); }},
      {"nvmlDeviceGetVbiosVersion", [](const auto& gpu) { return gpu.vbios.empty(); }},
      {"nvmlDeviceGetBoardPartNumber", [](const auto& gpu) { return gpu.board_part.empty(); }},
      {"nvmlSystemGetDriverVersion", [](const auto& gpu) { return gpu.driver.empty(); }},
      {"nvmlDeviceGetPciInfo_v3", [](const auto& gpu) { return gpu.pci.empty(); }},
      {"nvmlDeviceGetEccMode", [](const auto& gpu) { return gpu.ecc_enabled == -1; }},
      {"nvmlDeviceGetMigMode", [](const auto& gpu) { return gpu.mig_enabled == -1; }},
      {"nvmlDeviceGetPersistenceMode", [](const auto& gpu) { return gpu.persistence == -1; }},
      {"nvmlDeviceGetPowerManagementLimit",
       [](const auto& gpu) { return std::isnan(gpu.power_limit_w); }},
      {"nvmlDeviceGetPowerManagementDefaultLimit",
       [](const auto& gpu) { return std::isnan(gpu.default_power_limit_w); }},
      {"nvmlDeviceGetApplicationsClock",
       [](const auto& gpu) { return gpu.app_sm_mhz == 0 && gpu.app_memory_mhz == 0; }},
      {"nvmlDeviceGetMaxClockInfo", [](const auto& gpu) { return gpu.max_sm_mhz == 0; }},
      {"nvmlDeviceGetNvLinkState",
       [](const auto& gpu) { return gpu.nvlinks_up == kNo32 && gpu.nvlinks_up_mask == kNo32; }},
      {"nvmlDeviceGetTotalEccErrors",
       [](const auto& gpu) { return gpu.ecc_corrected == kNo64 && gpu.ecc_uncorrected == kNo64; }},
      {"nvmlDeviceGetRemappedRows",
       [](const auto& gpu) { return gpu.remapped_rows_pending == kNo32; }}};
  for (const Query& query : queries) {
    for (const int code : kRefusals) {
      const FakeNvml fake(refused(query.function, code));
      const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
      ASSERT_TRUE(nvml.has_value());
      GpuRecord record;
      nvml->describe(nvml->device_of_uuid("GPU-fake"), record);
      EXPECT_TRUE(query.unknown(record)) << query.function << " " << code;
    }
  }
}

TEST(Nvml, throttle_reasons_that_are_refused_are_not_none) {
  for (const int code : kRefusals) {
    const FakeNvml fake(refused("nvmlDeviceGetCurrentClocksThrottleReasons", code));
    const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
    ASSERT_TRUE(nvml.has_value());
    EXPECT_EQ(nvml->read(nvml->device_of_uuid("GPU-fake")).throttle_reasons,
              std::uint64_t{1} << 63);
  }
}

TEST(Nvml, a_gpu_without_nvlinks_has_no_counters_of_them) {
  const FakeNvml fake("nvmlDeviceGetNvLinkState=3");
  const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
  ASSERT_TRUE(nvml);
  EXPECT_EQ(nvml->error_counters(nvml->device_of_uuid("GPU-fake")).size(), 4U);
}

TEST(Nvml, counters_that_are_refused_are_unknown) {
  struct Query {
    const char* function;
    std::size_t unknown;  // counters
  };
  const Query queries[] = {{"nvmlDeviceGetTotalEccErrors", 2},
                           {"nvmlDeviceGetRemappedRows", 1},
                           {"nvmlDeviceGetPcieReplayCounter", 1},
                           {"nvmlDeviceGetNvLinkErrorCounter", 18 * 3},
                           {"nvmlDeviceGetNvLinkState", 1}};
  for (const Query& query : queries) {
    const FakeNvml fake(refused(query.function, 999));
    const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
    ASSERT_TRUE(nvml);
    std::size_t unknown = 0;
    for (const ErrorCounter& counter : nvml->error_counters(nvml->device_of_uuid("GPU-fake")))
      if (!counter.errors) ++unknown;
    EXPECT_EQ(unknown, query.unknown) << query.function;
  }
}

TEST(Nvml, processes_that_are_refused_are_unknown) {
  const FakeNvml fake("nvmlDeviceGetComputeRunningProcesses_v3=999");
  const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
  ASSERT_TRUE(nvml);
  EXPECT_FALSE(nvml->compute_processes(nvml->device_of_uuid("GPU-fake")).has_value());
}

TEST(Nvml, reads_clocks_and_sensors) {
  const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
  ASSERT_TRUE(nvml.has_value());
  const TelemetryPoint point = nvml->read(nvml->device_of_uuid("GPU-fake"));
  EXPECT_GT(point.at_unix_s, 1.7e9);
  EXPECT_EQ(point.sm_mhz, 1755.0F);
  EXPECT_EQ(point.memory_mhz, 3200.0F);
  EXPECT_EQ(point.power_w, 433.25F);
  EXPECT_EQ(point.temperature_c, 61.0F);
  EXPECT_EQ(point.utilisation, 97.0F);
  EXPECT_EQ(point.throttle_reasons, 4U);  // by the older name of the function
}

TEST(Nvml, counts_errors_of_memory_pcie_and_links_that_have_them) {
  const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
  ASSERT_TRUE(nvml);
  const auto counters = nvml->error_counters(nvml->device_of_uuid("GPU-fake"));
  ASSERT_EQ(counters.size(), 4U + 4 * 3);
  EXPECT_EQ(counters[0].name, "corrected ECC errors");
  EXPECT_EQ(counters[0].errors, 5'000'000'000U);
  EXPECT_EQ(counters[1].name, "uncorrected ECC errors");
  EXPECT_EQ(counters[1].errors, 2U);
  EXPECT_EQ(counters[2].name, "remapped rows");
  EXPECT_EQ(counters[2].errors, 15U);
  EXPECT_EQ(counters[3].name, "PCIe replays");
  EXPECT_EQ(counters[3].errors, 40U);
  EXPECT_EQ(counters[4].name, "NVLink 0 replays");
  EXPECT_EQ(counters[4].errors, 0U);
  EXPECT_EQ(counters[15].name, "NVLink 3 CRC errors");
  EXPECT_EQ(counters[15].errors, 32U);
}

TEST(Nvml, a_reading_that_fails_is_nan) {
  const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
  ASSERT_TRUE(nvml.has_value());
  int stranger = 0;
  const TelemetryPoint point = nvml->read(&stranger);
  EXPECT_TRUE(std::isnan(point.sm_mhz));
  EXPECT_TRUE(std::isnan(point.power_w));
  EXPECT_TRUE(std::isnan(point.temperature_c));
  EXPECT_TRUE(std::isnan(point.utilisation));
}

TEST(Nvml, names_all_processes_even_more_than_were_expected) {
  const auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
  ASSERT_TRUE(nvml.has_value());
  const auto pids = nvml->compute_processes(nvml->device_of_uuid("GPU-fake")).value();
  ASSERT_EQ(pids.size(), 70U);
  EXPECT_EQ(pids[0], 4'000'000U);
  EXPECT_EQ(pids[69], 4'000'069U);
}

TEST(Nvml, tells_xids_where_ecc_events_are_refused) {
  auto nvml = Nvml::open(TIDEMARK_FAKE_NVML);
  ASSERT_TRUE(nvml.has_value());
  const NvmlDevice gpu = nvml->device_of_uuid("GPU-fake");
  ASSERT_TRUE(nvml->watch(gpu));
  const auto event = nvml->next_event(0);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->device, gpu);
  EXPECT_EQ(event->xid, 79);
  EXPECT_EQ(event->text, "Xid 79");
  EXPECT_FALSE(nvml->next_event(0).has_value());
}

}  // namespace
}  // namespace tidemark
