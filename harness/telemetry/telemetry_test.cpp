// Tests of the telemetry thread, against a stand-in NVML with one GPU.
#include "harness/telemetry/telemetry.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "harness/discovery/fake_nvml.hpp"

namespace tidemark {
namespace {

double unix_now() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Waits until a reading is there; the test then says what is wrong with it, or that there is none.
TelemetryPoint first_reading(const Telemetry& telemetry, std::uint32_t gpu) {
  TelemetryPoint point;
  for (int i = 0; i < 2000; ++i) {
    point = telemetry.nearest(gpu, unix_now());
    if (!std::isnan(point.sm_mhz)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return point;
}

TEST(Telemetry, reads_the_gpu_by_its_number_in_the_launch) {
  const Telemetry telemetry({{.gpu = 5, .uuid = "GPU-fake"}}, TIDEMARK_FAKE_NVML);
  const TelemetryPoint point = first_reading(telemetry, 5);
  EXPECT_EQ(point.sm_mhz, 1755.0F);
  EXPECT_EQ(point.power_w, 433.25F);
  EXPECT_EQ(point.temperature_c, 61.0F);
  EXPECT_TRUE(std::isnan(telemetry.nearest(0, unix_now()).sm_mhz));
}

TEST(Telemetry, has_no_reading_for_a_moment_far_away) {
  const Telemetry telemetry({{.gpu = 0, .uuid = "GPU-fake"}}, TIDEMARK_FAKE_NVML);
  const TelemetryPoint now = first_reading(telemetry, 0);
  EXPECT_TRUE(std::isnan(telemetry.nearest(0, now.at_unix_s - 60).sm_mhz));
  EXPECT_TRUE(std::isnan(telemetry.nearest(0, now.at_unix_s + 60).sm_mhz));
  EXPECT_EQ(telemetry.nearest(0, now.at_unix_s).at_unix_s, now.at_unix_s);
}

TEST(Telemetry, without_nvml_says_nan) {
  Telemetry telemetry({{.gpu = 0, .uuid = "GPU-fake"}}, "libno-such-thing.so.1");
  const TelemetryPoint point = telemetry.nearest(0, 1000);
  EXPECT_EQ(point.at_unix_s, 1000);
  EXPECT_TRUE(std::isnan(point.sm_mhz));
  EXPECT_TRUE(std::isnan(point.memory_mhz));
  EXPECT_TRUE(std::isnan(point.power_w));
  EXPECT_TRUE(std::isnan(point.temperature_c));
  EXPECT_TRUE(std::isnan(point.utilisation));
  EXPECT_TRUE(telemetry.take_events().empty());
}

TEST(Telemetry, tells_an_xid_once_and_names_its_gpu) {
  Telemetry telemetry({{.gpu = 3, .uuid = "GPU-fake"}}, TIDEMARK_FAKE_NVML);
  std::vector<EventRecord> events;
  for (int i = 0; i < 2000 && events.empty(); ++i) {
    events = telemetry.take_events();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].gpu, 3);
  EXPECT_EQ(events[0].source, "nvml");
  EXPECT_EQ(events[0].code, 79);
  EXPECT_EQ(events[0].text, "Xid 79");
  EXPECT_TRUE(telemetry.take_events().empty());
}

TEST(Telemetry, ends_though_nvml_does_not_answer) {
  const FakeNvml fake(TIDEMARK_FAKE_NVML, FakeNvmlMode::stuck);
  const Telemetry telemetry({{.gpu = 0, .uuid = "GPU-fake"}}, TIDEMARK_FAKE_NVML);
  EXPECT_TRUE(std::isnan(telemetry.nearest(0, unix_now()).sm_mhz));
  // Its end comes first, while the thread is still stuck.
}

}  // namespace
}  // namespace tidemark
