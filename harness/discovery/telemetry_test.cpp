// Clocks, power, heat, throttling, Xids and counters of errors of this rank's GPUs.
#include "harness/discovery/telemetry.hpp"

#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/base/clock.hpp"
#include "harness/testing/fake_nvml.hpp"

namespace tidemark {
namespace {

using Told = std::vector<std::string>;

TEST(CounterRises, SayNothingOfWhatWasCountedBefore) {
  CounterRises rises;
  EXPECT_EQ(rises.told({{"PCIe replays", 7}}), Told{});
  EXPECT_EQ(rises.told({{"PCIe replays", 7}}), Told{});
}

TEST(CounterRises, NameTheCounterThatRose) {
  CounterRises rises;
  rises.told({{"PCIe replays", 7}, {"remapped rows", 0}});
  EXPECT_EQ(rises.told({{"PCIe replays", 7}, {"remapped rows", 1}}), Told{"remapped rows rose"});
}

TEST(CounterRises, TellARiseOnceAndAgainWhenItHasDoubled) {
  CounterRises rises;
  rises.told({{"PCIe replays", 100}});
  EXPECT_EQ(rises.told({{"PCIe replays", 103}}), Told{"PCIe replays rose"});
  EXPECT_EQ(rises.told({{"PCIe replays", 105}}), Told{});
  EXPECT_EQ(rises.told({{"PCIe replays", 106}}), Told{"PCIe replays rose"});
  EXPECT_EQ(rises.told({{"PCIe replays", 111}}), Told{});
}

TEST(CounterRises, NameOnceWhatNvmlRefuses) {
  CounterRises rises;
  const Told told = {"remapped rows are unknown: NVML does not say"};
  EXPECT_EQ(rises.told({{"PCIe replays", 7}, {"remapped rows", std::nullopt}}), told);
  EXPECT_EQ(rises.told({{"PCIe replays", 7}, {"remapped rows", std::nullopt}}), Told{});
}

TEST(CounterRises, BeginAnewWhereTheDriverWasLoadedAnew) {
  CounterRises rises;
  rises.told({{"PCIe replays", 100}});
  EXPECT_EQ(rises.told({{"PCIe replays", 150}}), Told{"PCIe replays rose"});
  EXPECT_EQ(rises.told({{"PCIe replays", 0}}), Told{});
  EXPECT_EQ(rises.told({{"PCIe replays", 1}}), Told{"PCIe replays rose"});
}

}  // namespace

namespace {

const NvmlChild kFake = {.program = TIDEMARK_BINARY, .library = TIDEMARK_FAKE_NVML};

// Waits until a reading is there; the test then says what is wrong with it, or that there is none.
TelemetryPoint first_reading(const Telemetry& telemetry, std::uint32_t gpu) {
  TelemetryPoint point;
  for (int i = 0; i < 2000; ++i) {
    point = telemetry.nearest(gpu, unix_s());
    if (!std::isnan(point.sm_mhz)) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return point;
}

std::vector<EventRecord> first_events(Telemetry& telemetry) {
  std::vector<EventRecord> events;
  for (int i = 0; i < 2000 && events.empty(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    events = telemetry.take_events();
  }
  return events;
}

TEST(Telemetry, reads_the_gpu_by_its_number_in_the_launch) {
  const Telemetry telemetry({{.gpu = 5, .uuid = "GPU-fake"}}, kFake);
  const TelemetryPoint point = first_reading(telemetry, 5);
  EXPECT_EQ(point.sm_mhz, 1755.0F);
  EXPECT_EQ(point.power_w, 433.25F);
  EXPECT_EQ(point.temperature_c, 61.0F);
  EXPECT_TRUE(std::isnan(telemetry.nearest(0, unix_s()).sm_mhz));
}

TEST(Telemetry, has_no_reading_for_a_moment_far_away) {
  const Telemetry telemetry({{.gpu = 0, .uuid = "GPU-fake"}}, kFake);
  const TelemetryPoint now = first_reading(telemetry, 0);
  EXPECT_TRUE(std::isnan(telemetry.nearest(0, now.at_unix_s - 60).sm_mhz));
  EXPECT_TRUE(std::isnan(telemetry.nearest(0, now.at_unix_s + 60).sm_mhz));
  EXPECT_EQ(telemetry.nearest(0, now.at_unix_s).at_unix_s, now.at_unix_s);
}

TEST(Telemetry, without_nvml_says_nan) {
  Telemetry telemetry({{.gpu = 0, .uuid = "GPU-fake"}},
                      {.program = TIDEMARK_BINARY, .library = "libno-such-thing.so.1"});
  const TelemetryPoint point = telemetry.nearest(0, 1000);
  EXPECT_EQ(point.at_unix_s, 1000);
  EXPECT_TRUE(std::isnan(point.sm_mhz));
  EXPECT_TRUE(std::isnan(point.memory_mhz));
  EXPECT_TRUE(std::isnan(point.power_w));
  EXPECT_TRUE(std::isnan(point.temperature_c));
  EXPECT_TRUE(std::isnan(point.utilisation));
  EXPECT_TRUE(telemetry.take_events().empty());
}

TEST(Telemetry, tells_what_nvml_refuses_and_no_column_shows) {
  for (const char* refusal :
       {"nvmlDeviceGetHandleByUUID=999", "nvmlEventSetCreate=3", "nvmlDeviceRegisterEvents=3",
        "nvmlEventSetWait_v2=999", "nvmlDeviceGetComputeRunningProcesses_v3=4",
        "nvmlDeviceGetPcieReplayCounter=3", "nvmlDeviceGetNvLinkErrorCounter=999"}) {
    const FakeNvml fake(refusal);
    Telemetry telemetry({{.gpu = 3, .uuid = "GPU-fake"}}, kFake);
    const std::vector<EventRecord> events = first_events(telemetry);
    ASSERT_FALSE(events.empty()) << refusal;
    EXPECT_EQ(events[0].gpu, 3) << refusal;
    EXPECT_EQ(events[0].source, "nvml") << refusal;
    EXPECT_EQ(events[0].code, 0) << refusal;
    EXPECT_NE(events[0].text.find("unknown"), std::string::npos) << events[0].text;
  }
}

TEST(Telemetry, tells_an_xid_once_and_names_its_gpu) {
  Telemetry telemetry({{.gpu = 3, .uuid = "GPU-fake"}}, kFake);
  const std::vector<EventRecord> events = first_events(telemetry);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].gpu, 3);
  EXPECT_EQ(events[0].source, "nvml");
  EXPECT_EQ(events[0].code, 79);
  EXPECT_EQ(events[0].text, "Xid 79");
  EXPECT_TRUE(telemetry.take_events().empty());
}

TEST(Telemetry, tells_that_a_counter_of_errors_rose) {
  const FakeNvml fake("noisy");
  Telemetry telemetry({{.gpu = 3, .uuid = "GPU-fake"}}, kFake);
  std::vector<EventRecord> events = first_events(telemetry);
  while (!events.empty() && events.back().code == 79) events = first_events(telemetry);
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events.back().gpu, 3);
  EXPECT_EQ(events.back().source, "nvml");
  EXPECT_EQ(events.back().code, 0);
  EXPECT_EQ(events.back().text, "PCIe replays rose");
}

/// The process that polls for this one, once it is there; -1 when there is none after ten seconds.
pid_t poller(int tries = 2000) {
  for (int i = 0; i < tries; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
      std::string command;
      std::string state;
      std::ifstream(entry.path() / "cmdline") >> command;
      std::getline(std::ifstream(entry.path() / "stat"), state);
      const bool mine = state.find(fmt::format(" {} ", getpid())) != std::string::npos;
      if (mine && command.find("__telemetry") != std::string::npos)
        return static_cast<pid_t>(std::stol(entry.path().filename()));
    }
  }
  return -1;
}

TEST(Telemetry, ends_its_process_though_nvml_does_not_answer) {
  const FakeNvml fake("stuck");
  {
    const Telemetry telemetry({{.gpu = 0, .uuid = "GPU-fake"}}, kFake);
    EXPECT_TRUE(std::isnan(telemetry.nearest(0, unix_s()).sm_mhz));
    EXPECT_GT(poller(), 0);
  }
  EXPECT_EQ(poller(1), -1);
}

TEST(Telemetry, says_when_readings_end) {
  Telemetry telemetry({{.gpu = 0, .uuid = "GPU-fake"}}, kFake);
  first_reading(telemetry, 0);
  telemetry.take_events();
  const pid_t pid = poller();
  ASSERT_GT(pid, 0);
  kill(pid, SIGKILL);
  const std::vector<EventRecord> events = first_events(telemetry);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].gpu, 0);
  EXPECT_EQ(events[0].source, "nvml");
  EXPECT_TRUE(telemetry.take_events().empty());
}

}  // namespace

}  // namespace tidemark
