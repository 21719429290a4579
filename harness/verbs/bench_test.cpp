// Tests of tidemark bench: what it runs, what it prints, what it refuses.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "harness/testing/launch_place.hpp"
#include "harness/testing/run_binary.hpp"

namespace tidemark {
namespace {

std::vector<std::string> bench_arguments(const Place& place, const Arguments& more) {
  Arguments all = {"bench", "--device", "virtual", "--seed", "7", "--out", place.out()};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// The line of `text` that begins with `begin`, behind blanks; empty where there is none.
std::string line_of(const std::string& text, const std::string& begin) {
  const std::size_t at = text.find("\n  " + begin);
  return at == std::string::npos ? "" : text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

/// What stands behind the unit in the line of `metric`.
std::string behind_unit(const std::string& text, const std::string& metric) {
  std::istringstream words(line_of(text, metric));
  std::string word;
  while (words >> word && word != "TFLOP/s") {
  }
  words >> word;
  return word;
}

TEST(Bench, prints_each_rung_with_its_gain_over_the_one_below) {
  const Place place;
  const Ran ran = run_binary(bench_arguments(place, {"gemm.ladder"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(line_of(ran.out, "metric").find(" gain"), std::string::npos) << ran.out;
  EXPECT_EQ(behind_unit(ran.out, "thread_copy_48"), "-") << ran.out;
  for (const char* rung : {"cp_async_48", "tma_wgmma_48", "ring_48", "wide_tile_48",
                           "persistent_48", "multicast_48", "tma_store_48"})
    EXPECT_TRUE(behind_unit(ran.out, rung).ends_with("x")) << rung << "\n" << ran.out;
}

TEST(Bench, runs_the_case_that_the_benchmark_stands_on_and_writes_both_down) {
  const Place place;
  EXPECT_EQ(run_binary(bench_arguments(place, {"gemm.ladder"})).exit, 0);
  const Report report = read_report(place.out());
  const auto results = results_of(report);
  EXPECT_EQ(results.size(), 2U);
  EXPECT_EQ(results.count("gemm.local.ladder@0"), 1U);
  EXPECT_EQ(report.launch.level, "nightly");
}

TEST(Bench, shows_no_gain_of_what_is_no_ladder) {
  const Place place;
  const Ran ran = run_binary(bench_arguments(place, {"gemm.local.speed"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(line_of(ran.out, "rate"), "") << ran.out;
  EXPECT_EQ(ran.out.find("gain"), std::string::npos) << ran.out;
}

TEST(Bench, ends_with_one_line_of_json_that_holds_the_numbers) {
  const Place place;
  const Ran ran = run_binary(bench_arguments(place, {"gemm.local.speed", "--json"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out.find('\n'), ran.out.size() - 1) << ran.out;
  const Report report = read_report(place.out());
  const auto metrics = nlohmann::json::parse(ran.out).at("metrics");
  ASSERT_EQ(metrics.size(), 1U);
  EXPECT_EQ(metrics[0]["case"], "gemm.local.speed");
  EXPECT_EQ(metrics[0]["metric"], "rate");
  EXPECT_EQ(metrics[0]["gpu"], 0);
  EXPECT_EQ(metrics[0]["unit"], "TFLOP/s");
  EXPECT_EQ(metrics[0]["median"], report.metrics[0].median);
  EXPECT_EQ(metrics[0]["n"], report.metrics[0].n);
}

TEST(Bench, says_that_there_are_no_numbers_where_the_case_below_has_failed) {
  const Place place;
  const Ran ran =
      run_binary(bench_arguments(place, {"gemm.local.speed", "--fault", "gemm_last_product"}));
  EXPECT_EQ(ran.exit, 1) << ran.err;
  EXPECT_NE(ran.out.find("\n nothing was measured\n"), std::string::npos) << ran.out;
}

TEST(Bench, prints_the_numbers_of_each_launch) {
  const Place place;
  const Ran ran =  // of two measurements, which take a minute each under sanitizers
      run_binary(bench_arguments(place, {"gemm.local.speed", "--launches", "2"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const std::size_t first = ran.out.find("\n  rate ");
  EXPECT_NE(first, std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\n  rate ", first + 1), std::string::npos) << ran.out;
}

TEST(Bench, takes_a_name_behind_what_is_left_out_for_one_to_run) {
  const Place place;
  const Ran ran = run_binary(
      bench_arguments(place, {"--dry-run", "--exclude", "gemm.local.speed", "gemm.ladder"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(ran.out.find("gemm.ladder "), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find("gemm.distributed.speed"), std::string::npos) << ran.out;
}

TEST(Bench, refuses_what_is_no_benchmark_before_anything_is_written) {
  const Place place;
  const Ran ran = run_binary(bench_arguments(place, {"gemm.local.ladder"}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "tidemark: bench 'gemm.local.ladder' is no benchmark; 'gemm.ladder' stands on it\n");
  EXPECT_TRUE(place.files().empty());
}

TEST(Bench, ends_with_an_error_where_its_numbers_cannot_be_printed) {
  const Place place;
  const Ran ran = run_program({"/bin/sh", "-c",
                               std::string(TIDEMARK_BINARY) +
                                   " bench gemm.local.speed --device virtual --out " + place.out() +
                                   " > /dev/full"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("cannot write to stdout"), std::string::npos) << ran.err;
  EXPECT_EQ(read_report(place.out()).results.size(), 2U);
}

}  // namespace
}  // namespace tidemark
