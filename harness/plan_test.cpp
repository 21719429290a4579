// Tests of the selection of cases, on cases of its own beside those that are linked in.
#include "harness/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/base/errors.hpp"

namespace tidemark {
namespace {

const Register kAlpha({.name = "zz_plan.alpha", .claim = "a", .cites = ""});
const Register kBeta({.name = "zz_plan.beta", .claim = "b", .cites = "", .level = Level::nightly});
const Register kGamma(
    {.name = "zz_plan.gamma", .claim = "c", .cites = "", .scope = CaseScope::all_gpus});
const Register kBench({.name = "zz_plan.a_bench",
                       .claim = "d",
                       .cites = "",
                       .kind = CaseKind::benchmark,
                       .correct_by = "zz_plan.alpha",
                       .unit = "TFLOP/s"});
const Register kBenchOfNightly({.name = "zz_plan.b_bench",
                                .claim = "e",
                                .cites = "",
                                .kind = CaseKind::benchmark,
                                .correct_by = "zz_plan.beta"});

std::vector<std::string> names_of(const std::vector<const Case*>& cases) {
  std::vector<std::string> names;
  for (const Case* which : cases) names.emplace_back(which->name);
  return names;
}

std::string usage_error_of(const LaunchOptions& options) {
  try {
    make_plan(options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

using Names = std::vector<std::string>;

TEST(GlobMatches, the_whole_name_must_match) {
  EXPECT_TRUE(glob_matches("load.tile.2d", "load.tile.2d"));
  EXPECT_FALSE(glob_matches("load.tile", "load.tile.2d"));
  EXPECT_FALSE(glob_matches("tile.2d", "load.tile.2d"));
  EXPECT_FALSE(glob_matches("", "load"));
}

TEST(GlobMatches, star_stands_for_any_text_and_for_none) {
  EXPECT_TRUE(glob_matches("load.*", "load.tile.2d"));
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("*.2d*", "load.tile.2d"));
  EXPECT_TRUE(glob_matches("l*t*2d", "load.tile.2d"));
  EXPECT_TRUE(glob_matches("*a*ab", "aaab"));  // the first try of the star is not the right one
  EXPECT_FALSE(glob_matches("load.*.3d", "load.tile.2d"));
}

TEST(GlobMatches, question_mark_stands_for_one_character) {
  EXPECT_TRUE(glob_matches("load.tile.?d", "load.tile.2d"));
  EXPECT_FALSE(glob_matches("load.tile.2d?", "load.tile.2d"));
}

TEST(MakePlan, takes_what_a_glob_names_and_splits_it_by_scope) {
  const Plan plan = make_plan({.cases = {"zz_plan.alpha", "zz_plan.ga*"}});
  EXPECT_EQ(names_of(plan.one_gpu), Names({"zz_plan.alpha"}));
  EXPECT_EQ(names_of(plan.all_gpus), Names({"zz_plan.gamma"}));
}

TEST(MakePlan, leaves_out_what_an_exclude_glob_names) {
  const Plan plan = make_plan({.cases = {"zz_plan.*"}, .exclude = {"*bench", "zz_plan.gamma"}});
  EXPECT_EQ(names_of(plan.one_gpu), Names({"zz_plan.alpha"}));
  EXPECT_TRUE(plan.all_gpus.empty());
}

TEST(MakePlan, without_globs_takes_every_case_of_the_level) {
  const Plan plan = make_plan({.level = Level::soak});
  EXPECT_EQ(plan.one_gpu.size() + plan.all_gpus.size(), all_cases().size());
}

TEST(MakePlan, a_higher_level_holds_the_lower_ones) {
  const LaunchOptions quick{.cases = {"zz_plan.alpha", "zz_plan.beta"}};
  EXPECT_EQ(names_of(make_plan(quick).one_gpu), Names({"zz_plan.alpha"}));
  const LaunchOptions nightly{.cases = {"zz_plan.alpha", "zz_plan.beta"}, .level = Level::nightly};
  EXPECT_EQ(names_of(make_plan(nightly).one_gpu), Names({"zz_plan.alpha", "zz_plan.beta"}));
}

TEST(MakePlan, runs_conformance_before_benchmarks) {
  const Plan plan = make_plan({.cases = {"zz_plan.a*"}});
  EXPECT_EQ(names_of(plan.one_gpu), Names({"zz_plan.alpha", "zz_plan.a_bench"}));
}

TEST(MakePlan, a_benchmark_brings_its_conformance_case_even_against_level_and_exclude) {
  EXPECT_EQ(names_of(make_plan({.cases = {"zz_plan.a_bench"}}).one_gpu),
            Names({"zz_plan.alpha", "zz_plan.a_bench"}));
  EXPECT_EQ(names_of(make_plan({.cases = {"zz_plan.b_bench"}, .exclude = {"*.beta"}}).one_gpu),
            Names({"zz_plan.beta", "zz_plan.b_bench"}));
}

TEST(MakePlan, of_bench_takes_benchmarks_alone_and_what_they_stand_on) {
  const LaunchOptions all{.cases = {"zz_plan.*"}, .level = Level::nightly, .bench = true};
  EXPECT_EQ(names_of(make_plan(all).one_gpu),
            (Names{"zz_plan.alpha", "zz_plan.beta", "zz_plan.a_bench", "zz_plan.b_bench"}));
  EXPECT_TRUE(make_plan(all).all_gpus.empty());
}

TEST(MakePlan, of_bench_names_what_stands_on_a_case_that_is_no_benchmark) {
  EXPECT_EQ(usage_error_of({.cases = {"zz_plan.alpha"}, .bench = true}),
            "bench 'zz_plan.alpha' is no benchmark; 'zz_plan.a_bench' stands on it");
  EXPECT_EQ(usage_error_of({.cases = {"zz_plan.gamma"}, .bench = true}),
            "bench 'zz_plan.gamma' is no benchmark; 'tidemark list' says which are");
}

TEST(MakePlan, of_bench_suggests_benchmarks_alone) {
  EXPECT_EQ(usage_error_of({.cases = {"zz_plan.alpah"}, .bench = true}),
            "bench 'zz_plan.alpah' matches no benchmark; did you mean 'zz_plan.a_bench'?");
  EXPECT_EQ(usage_error_of({.cases = {"q"}, .bench = true}),
            "bench 'q' matches no benchmark; 'tidemark list' says which there are");
}

TEST(MakePlan, refuses_to_slow_a_case_that_is_not_there) {
  EXPECT_EQ(usage_error_of({.slow = {{"zz_plan.a_bnech", 0.03}}}),
            "--slow 'zz_plan.a_bnech': there is no such case; did you mean 'zz_plan.a_bench'?");
}

TEST(MakePlan, refuses_to_slow_what_is_no_benchmark) {
  EXPECT_EQ(usage_error_of({.slow = {{"zz_plan.alpha", 0.03}}}),
            "--slow 'zz_plan.alpha': is no benchmark, so nothing is timed; 'tidemark list' says "
            "which are");
}

TEST(MakePlan, refuses_to_slow_a_benchmark_that_does_not_run) {
  EXPECT_EQ(usage_error_of({.cases = {"zz_plan.alpha"}, .slow = {{"zz_plan.a_bench", 0.03}}}),
            "--slow 'zz_plan.a_bench': is not among the cases of this run; choose it by --cases or "
            "--level");
}

/// A phase of one conformance case and three benchmarks.
Plan three_benchmarks() {
  static const Case one{.name = "one", .claim = "", .cites = "", .kind = CaseKind::benchmark},
      two{.name = "two", .claim = "", .cites = "", .kind = CaseKind::benchmark},
      three{.name = "three", .claim = "", .cites = "", .kind = CaseKind::benchmark},
      first{.name = "first", .claim = "", .cites = ""};
  return {.one_gpu = {&first, &one, &two, &three}, .all_gpus = {}};
}

TEST(Shuffled, keeps_conformance_in_front_and_every_benchmark) {
  const Plan plan = three_benchmarks();
  std::vector<const Case*> made = shuffled(plan, 7, 2).one_gpu;
  EXPECT_EQ(made[0], plan.one_gpu[0]);
  EXPECT_TRUE(std::is_permutation(made.begin(), made.end(), plan.one_gpu.begin()));
}

TEST(Shuffled, depends_on_the_number_of_the_launch_and_on_nothing_that_differs_between_ranks) {
  const Plan plan = three_benchmarks();
  EXPECT_EQ(shuffled(plan, 7, 2).one_gpu, shuffled(plan, 7, 2).one_gpu);
  std::set<std::vector<const Case*>> orders;
  for (std::uint32_t number = 1; number <= 40; ++number) {
    orders.insert(shuffled(plan, 7, number).one_gpu);
  }
  EXPECT_EQ(orders.size(), 6U);
}

TEST(MakePlan, refuses_a_glob_that_matches_nothing_and_suggests_the_nearest) {
  EXPECT_EQ(usage_error_of({.cases = {"zz_plan.alhpa"}}),
            "--cases 'zz_plan.alhpa' matches no case; did you mean 'zz_plan.alpha'?");
  EXPECT_EQ(usage_error_of({.exclude = {"zzz"}}),
            "--exclude 'zzz' matches no case; 'tidemark list' shows all");
}

TEST(MakePlan, refuses_to_plan_nothing) {
  EXPECT_EQ(usage_error_of({.cases = {"zz_plan.alpha"}, .exclude = {"*"}}),
            "--exclude leaves no case to run; take a glob away from it");
  EXPECT_EQ(usage_error_of({.cases = {"zz_plan.beta"}}),
            "--level quick leaves no case to run; the lowest level of those chosen is --level "
            "nightly");
}

TEST(MakePlan, refuses_a_row_of_several_cases) {
  EXPECT_EQ(usage_error_of({.cases = {"zz_plan.alpha", "zz_plan.gamma"}, .row = 3}),
            "--row 3 needs exactly one case, and 2 are chosen; name one with --cases");
  EXPECT_EQ(usage_error_of({.cases = {"zz_plan.a_bench"}, .row = 3}), "no error");
}

TEST(PlannedCases, say_kind_scope_claim_and_unit) {
  const auto planned = planned_cases(make_plan({.cases = {"zz_plan.a_bench", "zz_plan.gamma"}}));
  ASSERT_EQ(planned.size(), 3U);
  EXPECT_EQ(planned[1].name, "zz_plan.a_bench");
  EXPECT_EQ(planned[1].kind, "benchmark");
  EXPECT_EQ(planned[1].scope, "one_gpu");
  EXPECT_EQ(planned[1].unit, "TFLOP/s");
  EXPECT_EQ(planned[2].name, "zz_plan.gamma");
  EXPECT_EQ(planned[2].kind, "conformance");
  EXPECT_EQ(planned[2].scope, "all_gpus");
  EXPECT_EQ(planned[2].claim, "c");
}

TEST(MakePlan, leaves_out_what_needs_other_GPUs_where_the_driver_compiles) {
  const Plan plan = make_plan({.cases = {"zz_plan.*"}, .jit = true});
  EXPECT_FALSE(plan.one_gpu.empty());
  EXPECT_TRUE(plan.all_gpus.empty());
}

TEST(MakePlan, refuses_cases_of_all_GPUs_by_name_where_the_driver_compiles) {
  EXPECT_NE(usage_error_of({.cases = {"zz_plan.alpha", "zz_plan.gamma"}, .jit = true}), "no error");
  EXPECT_EQ(usage_error_of({.cases = {"zz_plan.alpha"}, .jit = true}), "no error");
}

TEST(MakePlan, refuses_options_of_products_where_no_case_follows_them) {
  const LaunchOptions none{.cases = {"zz_plan.gamma"}};
  LaunchOptions routed = none, gridded = none, sized = none;
  routed.transport = PanelRoute::nccl;
  gridded.product.grid = {.rows = 1, .cols = 2};
  sized.product.shape = {.m = 8, .n = 8, .k = 8};
  EXPECT_EQ(usage_error_of(routed),
            "--transport nccl: no case of this run is a distributed GEMM; choose one by --cases");
  EXPECT_EQ(usage_error_of(gridded),
            "--grid 1x2: no case of this run is a distributed GEMM; choose one by --cases");
  for (LaunchOptions* options : {&routed, &gridded, &sized})
    options->cases = {"gemm.distributed.shapes"};
  EXPECT_EQ(usage_error_of(routed), "no error");
  EXPECT_EQ(usage_error_of(gridded), "no error");
  EXPECT_EQ(usage_error_of(sized),
            "--n 8: no case of this run takes sizes, as gemm.distributed.speed and "
            "gemm.distributed.integer do; choose one by --cases");
  sized.bench = true;
  sized.cases = {"gemm.distributed.speed"};
  EXPECT_EQ(usage_error_of(sized), "no error");
}

}  // namespace
}  // namespace tidemark
