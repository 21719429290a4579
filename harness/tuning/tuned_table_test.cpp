// What a tuning run makes of the table it began with, and the lines that a person reads.
#include "harness/tuning/tuned_table.hpp"

#include <gtest/gtest.h>

namespace tidemark::harness {
namespace {

using Kind = TuningVerdict::Kind;

constexpr GemmShape kProduct{.m = 4096, .n = 4096, .k = 4096};

/// 2 x 4096^3 operations in 200 us are 687.2 TFLOP/s.
DecidedProduct decided(Kind kind) {
  DecidedProduct made{.product = kProduct, .present = "128x256_2x1_s4_m8", .verdict = {}};
  made.verdict = {.kind = kind,
                  .configuration = "128x256_2x1_s4_m8",
                  .noise = 0.004,
                  .at_work_ns = 200e3,
                  .rested_ns = 160e3};
  return made;
}

DecidedProduct replaced() {
  DecidedProduct made = decided(Kind::replaced);
  made.verdict.configuration = "128x256_2x1_s4_m8_lead2";
  made.verdict.gain = 0.023;
  return made;
}

GemmTable before() {
  return {.name = "old.json",
          .measured = {.gpu = "NVIDIA H100"},
          .choices = {{kProduct, "128x256_2x1_s4_m8", 1, ""},
                      {{.m = 1, .n = 2, .k = 3}, "128x256_2x1_s4_m8_lead1", 2, "a guess"}}};
}

TEST(TunedTable, winner_takes_the_place_with_what_was_measured) {
  const GemmTable made = tuned_table(before(), {replaced()}, {.gpu = "NVIDIA H200"});
  EXPECT_EQ(made.measured.gpu, "NVIDIA H200");
  ASSERT_EQ(made.choices.size(), 2U);
  EXPECT_EQ(made.choices[0].configuration, "128x256_2x1_s4_m8_lead2");
  EXPECT_EQ(made.choices[0].number, 3U);
  EXPECT_EQ(
      made.choices[0].note,
      "TFLOP/s sustained 687.2, cool 859.0; 2.3 % faster than 128x256_2x1_s4_m8, noise 0.4 %");
}

TEST(TunedTable, what_was_not_tried_says_where_it_comes_from) {
  const GemmTable made = tuned_table(before(), {replaced()}, {});
  EXPECT_EQ(made.choices[1].configuration, "128x256_2x1_s4_m8_lead1");
  EXPECT_EQ(made.choices[1].note, "taken over from old.json " + hash_of(before()));
}

TEST(TunedTable, where_it_first_came_from_is_kept) {
  const GemmTable first = tuned_table(before(), {}, {});
  const GemmTable second = tuned_table(first, {}, {});
  EXPECT_EQ(second.choices[1].note, first.choices[1].note);
}

TEST(TunedTable, present_one_that_stayed_carries_its_own_figures) {
  const GemmTable made = tuned_table(before(), {decided(Kind::kept)}, {});
  EXPECT_EQ(made.choices[0].configuration, "128x256_2x1_s4_m8");
  EXPECT_EQ(made.choices[0].note,
            "TFLOP/s sustained 687.2, cool 859.0; kept: none is faster by more than noise");
}

TEST(TunedTable, undecided_product_stays_as_it_was) {
  const GemmTable made = tuned_table(before(), {decided(Kind::undecided)}, {});
  EXPECT_EQ(made.choices[0].configuration, "128x256_2x1_s4_m8");
  EXPECT_EQ(made.choices[0].note, "taken over from old.json " + hash_of(before()));
}

TEST(TunedTable, product_that_it_did_not_have_is_added) {
  DecidedProduct fresh = replaced();
  fresh.product.k = 64;
  const GemmTable made = tuned_table(before(), {fresh}, {});
  ASSERT_EQ(made.choices.size(), 3U);
  EXPECT_EQ(made.choices[2].product.k, 64U);
  fresh.verdict.kind = Kind::undecided;
  EXPECT_EQ(tuned_table(before(), {fresh}, {}).choices.size(), 2U);
}

TEST(TunedTable, can_be_read_back) {
  const GemmTable made = tuned_table(before(), {replaced()}, {.gpu = "NVIDIA H200"});
  const GemmTable back = parse_gemm_table(json_of(made), "new.json");
  EXPECT_EQ(back.choices, made.choices);
  EXPECT_EQ(hash_of(back), hash_of(made));
}

TEST(DecisionText, says_gain_noise_and_what_was_before) {
  EXPECT_EQ(
      decision_text(replaced()),
      "4096 x 4096 x 4096    128x256_2x1_s4_m8_lead2                     687.2   859.0  +2.3 %  "
      "0.4 %: 5.8 times that\n"
      "                      was 128x256_2x1_s4_m8\n");
}

TEST(DecisionText, says_that_the_present_one_stays) {
  EXPECT_EQ(
      decision_text(decided(Kind::kept)),
      "4096 x 4096 x 4096    128x256_2x1_s4_m8                           687.2   859.0    kept  "
      "0.4 %\n");
}

TEST(DecisionText, says_why_nothing_can_be_told) {
  DecidedProduct made = decided(Kind::undecided);
  made.verdict.at_work_ns = made.verdict.rested_ns = 0;
  made.verdict.reason = "its time was over";
  EXPECT_EQ(
      decision_text(made),
      "4096 x 4096 x 4096    128x256_2x1_s4_m8                               -       -    kept  "
      "cannot tell\n"
      "                      its time was over\n");
}

}  // namespace
}  // namespace tidemark::harness
