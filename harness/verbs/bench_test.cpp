// Tests of tidemark bench: what it runs, what it prints, what it refuses.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/launch_place.hpp"
#include "harness/run_binary.hpp"

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

TEST(Bench, prints_each_rung_with_its_gain_over_the_one_below) {
  const Place place;
  const Ran ran = run_binary(bench_arguments(place, {"gemm.ladder"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(line_of(ran.out, "metric").find("  gain"), std::string::npos) << ran.out;
  EXPECT_EQ(line_of(ran.out, "thread_copy_48").find("x  "), std::string::npos) << ran.out;
  EXPECT_NE(line_of(ran.out, "tma_store_48").find("x  "), std::string::npos) << ran.out;
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
  const Ran ran = run_binary(bench_arguments(place, {"--cases", "gemm.local.speed"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(line_of(ran.out, "rate"), "") << ran.out;
  EXPECT_EQ(ran.out.find("gain"), std::string::npos) << ran.out;
}

TEST(Bench, ends_with_one_line_of_json_where_asked) {
  const Place place;
  const Ran ran = run_binary(bench_arguments(place, {"gemm.local.speed", "--json"}));
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_EQ(ran.out.find('\n'), ran.out.size() - 1) << ran.out;
  EXPECT_EQ(ran.out.front(), '{');
}

TEST(Bench, refuses_what_is_no_benchmark_before_anything_is_written) {
  const Place place;
  const Ran ran = run_binary(bench_arguments(place, {"load.tile.rank2"}));
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_EQ(ran.err,
            "tidemark: bench 'load.tile.rank2' matches no benchmark; 'tidemark list' shows all\n");
  EXPECT_TRUE(place.files().empty());
}

}  // namespace
}  // namespace tidemark
