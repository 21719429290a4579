// Names of the reports of a series, and when all ranks go on.
#include "harness/series.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/compare/speed/noise.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark::harness {
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

std::vector<std::string> written(const ScratchFolder& folder, const std::vector<Report>& reports) {
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < reports.size(); ++i) {
    paths.push_back(folder.file(std::to_string(i) + ".h5"));
    write_report(reports[i], paths.back());
  }
  return paths;
}

std::vector<Report> three_launches() {
  const SyntheticFleet fleet = {.gpus = 8, .cases = 6, .seed = 3};
  std::vector<Report> made;
  for (std::uint32_t i = 0; i < 3; ++i) made.push_back(synthetic_launch(fleet, i, false, {}));
  return made;
}

TEST(Calibrate, puts_the_same_keys_into_every_report_and_changes_nothing_else) {
  const ScratchFolder folder;
  const std::vector<Report> before = three_launches();
  const std::vector<std::string> paths = written(folder, before);
  const FileDescriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Output out(nowhere.get());
  EXPECT_EQ(calibrate(paths, true, out), ExitCode::ok);
  const Report first = read_report(paths[0]), last = read_report(paths[2]);
  EXPECT_EQ(stored_noise(first).size(), 6U);
  EXPECT_EQ(stored_noise(first), stored_noise(last));
  EXPECT_EQ(first.launch.run_id, before[0].launch.run_id);
  EXPECT_EQ(first.metrics.size(), before[0].metrics.size());
  EXPECT_EQ(first.metrics[7].median, before[0].metrics[7].median);
}

TEST(Calibrate, refuses_a_launch_that_is_incomplete_and_leaves_all_as_they_were) {
  const ScratchFolder folder;
  std::vector<Report> reports = three_launches();
  reports[1].launch.complete = false;
  reports[1].launch.incomplete_reason = "stopped";
  const std::vector<std::string> paths = written(folder, reports);
  const FileDescriptor nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Output out(nowhere.get());
  EXPECT_THROW(calibrate(paths, true, out), ReportError);
  EXPECT_TRUE(stored_noise(read_report(paths[0])).empty());
}

TEST(Calibrate, that_is_stored_and_cannot_be_printed_says_that_it_is_stored) {
  const ScratchFolder folder;
  const std::vector<std::string> paths = written(folder, three_launches());
  const FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  Output out(full.get());
  testing::internal::CaptureStderr();
  EXPECT_EQ(calibrate(paths, false, out), ExitCode::usage);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "tidemark: the calibration is stored in all 3 reports, but lines are lost\n");
  EXPECT_EQ(stored_noise(read_report(paths[0])).size(), 6U);
}

TEST(Calibrate, without_any_metric_is_incomplete) {
  const ScratchFolder folder;
  std::vector<Report> reports = three_launches();
  for (Report& report : reports) {
    for (ResultRow& result : report.results) result.verdict = Verdict::fail;
  }
  const std::vector<std::string> paths = written(folder, reports);
  Pipe pipe = make_pipe();
  Output out(pipe.write.get());
  EXPECT_EQ(calibrate(paths, false, out), ExitCode::incomplete);
  pipe.write.close();
  std::string printed;
  drain(pipe.read, printed);
  EXPECT_NE(printed.find("not known"), std::string::npos) << printed;
}

}  // namespace
}  // namespace tidemark::harness
