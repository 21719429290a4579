// A tuning run over several products, with a GPU that is a list of answers and a clock that they
// move.
#include "harness/tuning/tuning_run.hpp"

#include <gtest/gtest.h>

namespace tidemark::harness {
namespace {

constexpr GemmShape kOne{.m = 512, .n = 512, .k = 512};
constexpr GemmShape kTwo{.m = 1024, .n = 1024, .k = 1024};
constexpr GemmShape kThree{.m = 4096, .n = 4096, .k = 4096};

/// Another configuration than the present one, 5 % faster or as fast.
Tuned tried(double ns) {
  const std::vector<PairTimes> itself(5, {.before_ns = 100, .ours_ns = 100, .behind_ns = 100});
  const std::vector<PairTimes> other(5, {.before_ns = 100, .ours_ns = ns, .behind_ns = 100});
  return {.product = {.product = {},
                      .present = "now",
                      .all = {{.name = "now", .at_work = itself, .rested = itself},
                              {.name = "new", .at_work = other, .rested = other}}}};
}

/// What was asked of the GPU, and the answers that it gives in turn.
struct Scripted {
  std::vector<Tuned> answers;
  double seconds_each = 0;
  double clock = 1000;
  std::vector<double> shares = {};
  std::size_t told = 0;

  TuningRun run(const std::vector<GemmShape>& products, double time_limit_s) {
    return tune_all(
        embedded_gemm_table(), products, time_limit_s, [this] { return clock; },
        [this](const GemmShape& /*product*/, double seconds) {
          shares.push_back(seconds);
          clock += seconds_each;
          return answers.at(shares.size() - 1);
        },
        [this](const DecidedProduct& /*one*/) { ++told; });
  }
};

TEST(TuneAll, tells_each_product_and_is_ok_where_all_are_decided) {
  Scripted gpu{.answers = {tried(95), tried(100)}};
  const TuningRun run = gpu.run({kOne, kTwo}, 0);
  EXPECT_EQ(run.code, ExitCode::ok);
  EXPECT_EQ(run.ended, "");
  EXPECT_TRUE(run.believed);
  ASSERT_EQ(run.decided.size(), 2U);
  EXPECT_EQ(run.decided[0].verdict.kind, TuningVerdict::Kind::replaced);
  EXPECT_EQ(run.decided[1].verdict.kind, TuningVerdict::Kind::kept);
  EXPECT_EQ(run.decided[0].present, "64x128_1x1_s7_turn_m8_early");
  EXPECT_EQ(gpu.told, 2U);
}

TEST(TuneAll, gives_no_product_a_limit_where_there_is_none) {
  Scripted gpu{.answers = {tried(95), tried(95)}, .seconds_each = 1e6};
  gpu.run({kOne, kTwo}, 0);
  EXPECT_EQ(gpu.shares, (std::vector<double>{0, 0}));
}

TEST(TuneAll, shares_the_time_that_is_left_among_those_that_are) {
  Scripted gpu{.answers = {tried(95), tried(95), tried(95)}, .seconds_each = 10};
  gpu.run({kOne, kTwo, kThree}, 90);
  EXPECT_EQ(gpu.shares, (std::vector<double>{30, 40, 70}));
}

TEST(TuneAll, begins_nothing_behind_the_limit_and_says_what_is_left_out) {
  Scripted gpu{.answers = {tried(95)}, .seconds_each = 90};
  const TuningRun run = gpu.run({kOne, kTwo, kThree}, 60);
  EXPECT_EQ(run.decided.size(), 1U);
  EXPECT_EQ(run.ended, "the time limit came before 2 of 3 products");
  EXPECT_EQ(run.code, ExitCode::incomplete);
  EXPECT_TRUE(run.believed);
}

TEST(TuneAll, goes_on_behind_a_product_that_cannot_be_tried) {
  Scripted gpu{.answers = {{.kind = Tuned::Kind::refused, .reason = "no memory"}, tried(95)}};
  const TuningRun run = gpu.run({kOne, kTwo}, 0);
  EXPECT_EQ(run.code, ExitCode::incomplete);
  EXPECT_TRUE(run.believed);
  ASSERT_EQ(run.decided.size(), 2U);
  EXPECT_EQ(run.decided[0].verdict.kind, TuningVerdict::Kind::undecided);
  EXPECT_EQ(run.decided[0].verdict.reason, "no memory");
  EXPECT_EQ(run.decided[0].verdict.configuration, "64x128_1x1_s7_turn_m8_early");
}

TEST(TuneAll, believes_nothing_of_a_gpu_that_multiplies_wrong) {
  Tuned wrong = tried(95);
  wrong.product.all[1].standing = TriedConfiguration::Standing::wrong;
  wrong.product.all[1].trouble = "3 of 9 elements are wrong";
  Scripted gpu{.answers = {tried(95), wrong, tried(95)}};
  const TuningRun run = gpu.run({kOne, kTwo, kThree}, 0);
  EXPECT_EQ(run.code, ExitCode::failed);
  EXPECT_FALSE(run.believed);
  EXPECT_EQ(run.ended, "new: 3 of 9 elements are wrong");
  EXPECT_EQ(run.decided.size(), 2U);
}

TEST(TuneAll, ends_with_a_worker_that_is_lost) {
  Scripted gpu{.answers = {{.kind = Tuned::Kind::lost, .reason = "silent"}, tried(95)}};
  const TuningRun run = gpu.run({kOne, kTwo}, 0);
  EXPECT_EQ(run.code, ExitCode::failed);
  EXPECT_FALSE(run.believed);
  EXPECT_EQ(run.decided.size(), 1U);
}

TEST(TuneAll, is_incomplete_where_the_worker_has_no_device) {
  Scripted gpu{.answers = {{.kind = Tuned::Kind::unusable, .reason = "no device"}}};
  const TuningRun run = gpu.run({kOne}, 0);
  EXPECT_EQ(run.code, ExitCode::incomplete);
  EXPECT_FALSE(run.believed);
}

}  // namespace
}  // namespace tidemark::harness
