// The engine's table after a tuning run, of duels that are written down here.
#include "ci/lab/gemm/tune_report.hpp"

#include <gtest/gtest.h>

#include "kernels/cuda/gemm/tuning/choice.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::ordered_json;

/// Steady and cool duels of 2000 and 1600 ns a launch, of 2 GFLOP.
Tried tried(const std::string& name, double ratio, double spread) {
  Tried made;
  made.name = name;
  made.steady = {.ours_ns = 2000, .theirs_ns = 2000, .ratio = ratio, .spread = spread};
  made.cool = {.ours_ns = 1600, .theirs_ns = 1600, .ratio = ratio, .spread = spread};
  return made;
}

Tuned beside_present(const Tried& other) {
  Tuned tuned;
  tuned.shape = {.m = 1000, .n = 1000, .k = 1000};
  tuned.tried = {tried("now", 1.00, 0.01), other};
  tuned.tried[0].chosen = true;
  return tuned;
}

TEST(BestChoice, IsAnotherWhereItGainsMoreThanTheLargerSpread) {
  EXPECT_EQ(best_choice(beside_present(tried("new", 1.03, 0.02)))->name, "new");
}

TEST(BestChoice, StaysWhereAGainIsWithinTheSpreadOfEither) {
  EXPECT_EQ(best_choice(beside_present(tried("new", 1.03, 0.04)))->name, "now");
  EXPECT_EQ(best_choice(beside_present(tried("new", 1.009, 0.001)))->name, "now");
}

TEST(BestChoice, IsNoneThatIsWrongOrWhoseDuelIsVoid) {
  Tried wrong = tried("new", 1.5, 0.01);
  wrong.trouble = "3 of 9 elements are wrong";
  EXPECT_EQ(best_choice(beside_present(wrong))->name, "now");
  Tried drifted = tried("new", 1.5, 0.01);
  drifted.steady.drift = 0.05;
  EXPECT_EQ(best_choice(beside_present(drifted))->name, "now");
}

TEST(BestChoice, IsUnknownWhereThePresentOneHasNoDuelThatCounts) {
  Tuned tuned = beside_present(tried("new", 1.5, 0.01));
  tuned.tried[0].steady.drift = -0.05;
  EXPECT_EQ(best_choice(tuned), nullptr);
}

TEST(TableText, OfTheTableThatIsBuiltInIsItsFile) {
  EXPECT_EQ(table_text(Json::parse(kGemmTableText)), kGemmTableText);
}

TEST(PutChoice, ReplacesTheLineOfItsProductAndLeavesTheOthers) {
  Json table = {{"choices",
                 {{{"m", 1}, {"n", 2}, {"k", 3}, {"configuration", "a"}},
                  {{"m", 1000}, {"n", 1000}, {"k", 1000}, {"configuration", "now"}}}}};
  put_choice(table, beside_present(tried("new", 1.03, 0.02)));
  EXPECT_EQ(table_text(table),
            "{\n\"choices\":[\n{\"m\":1,\"n\":2,\"k\":3,\"configuration\":\"a\"},\n"
            "{\"m\":1000,\"n\":1000,\"k\":1000,\"configuration\":\"new\",\"note\":\"TFLOP/s "
            "sustained 1000.0, cool 1250.0; sustained 3.0 % over now\"}\n]\n}\n");
}

TEST(PutChoice, AddsAProductThatIsNew) {
  Json table = {{"choices", Json::array()}};
  put_choice(table, beside_present(tried("new", 1.0, 0.02)));
  ASSERT_EQ(table["choices"].size(), 1U);
  EXPECT_EQ(table["choices"][0]["configuration"], "now");
}

TEST(PutChoice, LeavesOutWhatTheTableIsNotFor) {
  Json table = {{"choices", Json::array()}};
  Tuned tuned = beside_present(tried("new", 1.03, 0.02));
  tuned.shape.element = GemmElement::f16;
  put_choice(table, tuned);
  EXPECT_EQ(table["choices"].size(), 0U);
}

}  // namespace
}  // namespace tidemark
