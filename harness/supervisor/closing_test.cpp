// Launches of the built program whose standard output or disk takes nothing.
#include "harness/supervisor/launch_state.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/testing/launch_place.hpp"
#include "reports/store/confined/sanitized.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

std::string launch_in(const Place& place) {
  return std::string(TIDEMARK_BINARY) +
         " run --device virtual --seed 7 --cases load.tile.rank1 --out " + place.out();
}

/// Runs a command in a shell that first does `before` and redirects by `after`. Behind a pipe its
/// exit code is lost, so it is printed, too.
Ran shell(std::string command, const std::string& before, const std::string& after) {
  if (after.find('|') != std::string::npos) command += "; echo code $?";
  return run_program({"/bin/sh", "-c", "(" + before + command + ") " + after});
}

TEST(Closing, closed_descriptors_cost_only_what_goes_there) {
  const Place place;
  const Ran ran = shell(launch_in(place), "", "<&- >&-");
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  EXPECT_EQ(place.files(), std::vector<std::string>{"r.h5"});
  EXPECT_TRUE(read_report(place.out()).launch.complete);
}

TEST(Closing, a_disk_that_is_full_before_anything_runs_is_one_line) {
  if (kThreadSanitized)
    GTEST_SKIP() << "ThreadSanitizer writes a file of its own as a process begins";
  const Place place;
  const Ran ran = shell(launch_in(place), "ulimit -f 0;", "2>&1 | cat");
  EXPECT_NE(ran.out.find("code 2\n"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("this record"), std::string::npos) << ran.out;
  EXPECT_TRUE(place.files().empty());
}

TEST(Closing, a_disk_that_is_full_at_the_end_costs_the_report_and_not_the_verdicts) {
  const Place place;
  const Ran ran = shell(launch_in(place) + " --json", "ulimit -f 24;", "| cat");
  EXPECT_NE(ran.out.find("code 2\n"), std::string::npos) << ran.out << ran.err;
  EXPECT_NE(ran.err.find("no report: "), std::string::npos) << ran.err;
  const auto json = nlohmann::json::parse(ran.out.substr(0, ran.out.find('\n')), nullptr, false);
  ASSERT_TRUE(json.is_object()) << ran.out;
  EXPECT_EQ(json.at("result"), "PASS");
  EXPECT_EQ(json.at("exit_code"), 2);
  EXPECT_TRUE(json.at("report").is_null());
  EXPECT_EQ(json.at("verdicts").at("pass"), 1);
  EXPECT_EQ(place.files(), std::vector<std::string>{"r.h5.run"});
  EXPECT_EQ(run_binary({"recover", place.journals()}).exit, 0);
}

}  // namespace
}  // namespace tidemark
