// Names of the reports of several launches, and when all ranks go on to the next.
#include "harness/supervisor/stop.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "harness/command_line/launch_options.hpp"

namespace tidemark {
namespace {

TEST(ReportName, carries_the_number_in_front_of_the_extension) {
  EXPECT_EQ(report_name("a.b/night.h5", 3, 5), "a.b/night-3.h5");
  EXPECT_EQ(report_name("a.b/night", 12, 20), "a.b/night-12");
}

TEST(ReportName, of_a_launch_alone_is_the_one_that_was_given) {
  EXPECT_EQ(report_name("night.h5", 1, 1), "night.h5");
}

TEST(AllGoOn, where_nobody_was_stopped) {
  std::vector<Link> links = local_links(2);
  Mesh first(links[0]), second(links[1]);
  StopWatch stop(0), other_stop(0);
  bool other = false;
  std::thread thread([&] { other = all_go_on(second, other_stop); });
  EXPECT_TRUE(all_go_on(first, stop));
  thread.join();
  EXPECT_TRUE(other);
}

TEST(AllGoOn, is_false_everywhere_where_one_was_stopped) {
  std::vector<Link> links = local_links(2);
  Mesh first(links[0]), second(links[1]);
  StopWatch stop(0), other_stop(0);
  other_stop.stop({.text = "stopped by SIGINT"});
  std::thread thread([&] { EXPECT_FALSE(all_go_on(second, other_stop)); });
  EXPECT_FALSE(all_go_on(first, stop));
  thread.join();
  EXPECT_EQ(stop.check()->text, "stopped by SIGINT");
}

}  // namespace
}  // namespace tidemark
