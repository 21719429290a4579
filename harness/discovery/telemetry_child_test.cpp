// The process that polls NVML for a supervisor, and the lines of its pipe.
#include "harness/discovery/telemetry.hpp"

#include <signal.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <cmath>
#include <limits>

#include "harness/base/child_process.hpp"

namespace tidemark {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();

TEST(Reading, comes_back_as_it_was) {
  const GpuReading reading{.gpu = 5,
                           .point = {.at_unix_s = 1788220802.123456,
                                     .sm_mhz = 1755,
                                     .memory_mhz = 3200,
                                     .power_w = 433.251F,
                                     .temperature_c = 61,
                                     .utilisation = 97,
                                     .throttle_reasons = 0x8000000000000004}};
  const std::string line = to_line(reading);
  ASSERT_EQ(line.find('\n'), line.size() - 1);
  const auto back = reading_in(line.substr(0, line.size() - 1));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->gpu, 5U);
  EXPECT_EQ(back->point.at_unix_s, 1788220802.123456);
  EXPECT_EQ(back->point.sm_mhz, 1755);
  EXPECT_EQ(back->point.memory_mhz, 3200);
  EXPECT_EQ(back->point.power_w, 433.251F);
  EXPECT_EQ(back->point.temperature_c, 61);
  EXPECT_EQ(back->point.utilisation, 97);
  EXPECT_EQ(back->point.throttle_reasons, 0x8000000000000004U);
}

TEST(Reading, keeps_what_was_not_read_unknown) {
  const std::string line = to_line(GpuReading{.gpu = 0,
                                              .point = {.at_unix_s = 7.5,
                                                        .sm_mhz = kUnknown,
                                                        .memory_mhz = kUnknown,
                                                        .power_w = kUnknown,
                                                        .temperature_c = kUnknown,
                                                        .utilisation = kUnknown}});
  const auto back = reading_in(line.substr(0, line.size() - 1));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(back->point.at_unix_s, 7.5);
  EXPECT_TRUE(std::isnan(back->point.sm_mhz));
  EXPECT_TRUE(std::isnan(back->point.utilisation));
}

TEST(Reading, is_nothing_else) {
  EXPECT_TRUE(reading_in("5 7.5 1 2 3 4 5 6").has_value());
  EXPECT_FALSE(reading_in("").has_value());
  EXPECT_FALSE(reading_in("5 7.5 1 2 3 4 5").has_value());
  EXPECT_FALSE(reading_in("5 7.5 1 2 3 4 5 6 7").has_value());
  EXPECT_FALSE(reading_in("5 7.5 1 2 3 4 5 6x").has_value());
  EXPECT_FALSE(reading_in("-5 7.5 1 2 3 4 5 6").has_value());
}

TEST(Event, is_a_line_of_a_journal) {
  std::string line = to_line(
      EventRecord{.at_unix_s = 8, .gpu = 3, .source = "nvml", .code = 79, .text = "Xid 79"});
  line.pop_back();
  const auto event = event_in(line);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->gpu, 3);
  EXPECT_EQ(event->code, 79);
  EXPECT_EQ(event->text, "Xid 79");
  EXPECT_FALSE(event_in(line.substr(1)).has_value());
}

TEST(SendLine, neither_waits_nor_sends_a_part_when_the_reader_is_behind) {
  const Pipe pipe = make_pipe();
  set_non_blocking(pipe.write.get());
  const std::string line = std::string(999, 'x') + '\n';
  std::size_t sent = 0;
  while (send_line(pipe.write.get(), line) == SendResult::whole) ++sent;
  EXPECT_EQ(send_line(pipe.write.get(), line), SendResult::no_room);
  std::string text;
  FileDescriptor reader(::dup(pipe.read.get()));
  set_non_blocking(reader.get());
  drain(reader, text);
  EXPECT_EQ(text.size(), sent * 1000);
  EXPECT_EQ(send_line(pipe.write.get(), line), SendResult::whole);
}

TEST(SendLine, says_that_nobody_reads) {
  Pipe pipe = make_pipe();
  set_non_blocking(pipe.write.get());
  pipe.read.close();
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(send_line(pipe.write.get(), "x\n"), SendResult::closed);
  ::signal(SIGPIPE, before);
}

}  // namespace

}  // namespace tidemark
