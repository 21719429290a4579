// Reports that were written once and are kept: what read them must go on reading them, and what
// wrote them must go on writing the same bytes.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "reports/golden/launches.hpp"
#include "reports/store/image.hpp"

namespace tidemark {
namespace {

std::string path_of(std::string_view file) {
  return std::string(TIDEMARK_GOLDEN_REPORTS) + "/" + std::string(file);
}

std::string bytes_of_file(std::string_view file) {
  std::ifstream stream(path_of(file), std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

constexpr const char* kMakeAnew =
    "after a change of the schema: build/tests/make_golden reports/golden";

TEST(GoldenReport, OfAWholeLaunchReadsAsWhatItWasMadeOf) {
  EXPECT_TRUE(same_rows(read_report(path_of("whole.h5")), report_of(kGoldenLaunches[0])))
      << kMakeAnew;
}

TEST(GoldenReport, OfALaunchThatEndedEarlyReadsAsWhatItWasMadeOf) {
  const Report report = read_report(path_of("ended_early.h5"));
  EXPECT_TRUE(same_rows(report, report_of(kGoldenLaunches[1]))) << kMakeAnew;
  EXPECT_FALSE(report.launch.complete);
  EXPECT_EQ(report.events.at(0).code, 79);
}

TEST(GoldenReport, WithoutResultsReadsAsWhatItWasMadeOf) {
  EXPECT_TRUE(same_rows(read_report(path_of("no_results.h5")), report_of(kGoldenLaunches[2])))
      << kMakeAnew;
}

TEST(GoldenReport, HoldsWhatAPersonCanCheckByHand) {
  const Report report = read_report(path_of("whole.h5"));
  EXPECT_EQ(report.launch.run_id, "3f1c0000-0000-4000-8000-000000000001");
  EXPECT_EQ(report.launch.created_utc, "2026-09-01T00:00:00Z");
  EXPECT_EQ(report.launch.seed, 0xfedcba9876543210U);
  ASSERT_EQ(report.results.size(), 6U);
  EXPECT_EQ(report.results[3].verdict, Verdict::fail);
  EXPECT_EQ(report.text(report.results[3].reason), "1 of 12 rows moved wrong bytes");
  EXPECT_EQ(report.miscompares.at(0).wrong_bytes, 1024U);
  EXPECT_EQ(report.metrics.at(1).median, 691.0);
  EXPECT_EQ(report.gpus[0].memory_bytes, 150754820096U);
}

TEST(GoldenReport, IsWrittenAgainAsTheSameBytes) {
  for (const GoldenLaunch& golden : kGoldenLaunches) {
    EXPECT_EQ(image_of(report_of(golden), "golden"), bytes_of_file(golden.file))
        << golden.file << ": " << kMakeAnew;
  }
}

}  // namespace
}  // namespace tidemark
