// Which configuration of the engine a GEMM gets: by the built-in table, or by a model.
#include "kernels/cuda/gemm/tuning/choice.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>

namespace tidemark {
namespace {

std::string choice_for(std::uint64_t m, std::uint64_t n, std::uint64_t k) {
  return name_of(nearest_choice(embedded_gemm_table(), {.m = m, .n = n, .k = k})->configuration);
}

TEST(GemmTable, EmbeddedOneGivesEachMeasuredProductWhatItGave) {
  EXPECT_EQ(choice_for(512, 512, 512), "64x128_1x1_s7_turn_m8_early");
  EXPECT_EQ(choice_for(1024, 1024, 1024), "64x128_1x1_s7_turn_m8_early");
  EXPECT_EQ(choice_for(1024, 1024, 8192), "64x128_1x1_s7_turn_m8_early");
  EXPECT_EQ(choice_for(2048, 2048, 2048), "128x256_1x1_s4_m16_early");
  EXPECT_EQ(choice_for(4096, 4096, 4096), "128x256_2x1_s4_m8_g1_lead1_early");
  EXPECT_EQ(choice_for(6144, 6144, 6144), "128x192_2x1_s5_turn_m8_g1_early");
  EXPECT_EQ(choice_for(8192, 8192, 8192), "128x192_2x1_s5_turn_m8_g1_early");
  EXPECT_EQ(choice_for(12288, 12288, 12288), "128x256_2x1_s4_m8_g1_lead1_early");
  EXPECT_EQ(choice_for(16384, 16384, 16384), "128x256_2x1_s4_m16_g2_lead1_early");
  EXPECT_EQ(choice_for(8192, 8192, 1024), "128x192_2x1_s5_turn_m16_g2_early");
  EXPECT_EQ(choice_for(8192, 1024, 8192), "128x256_2x1_s4_m16_g2_lead1_early");
  EXPECT_EQ(choice_for(4096, 14336, 4096), "128x192_2x1_s5_turn_streamk_m8_g1_early");
  EXPECT_EQ(choice_for(8192, 28672, 8192), "128x192_2x1_s5_turn_m8_g1_early");
  EXPECT_EQ(choice_for(8192, 4096, 8192), "128x256_2x1_s4_m8_g1_lead1_early");
  EXPECT_EQ(embedded_gemm_table().choices.size(), 14U);
}

TEST(GemmTable, EmbeddedTextIsATableOfDifferentProducts) {
  const auto json = nlohmann::json::parse(kGemmTableText);
  EXPECT_EQ(json.at("format"), "tidemark-gemm-table");
  EXPECT_EQ(json.at("schema"), 1);
  const std::vector<GemmChoice>& choices = embedded_gemm_table().choices;
  EXPECT_EQ(choices.size(), json.at("choices").size());
  for (const GemmChoice& choice : choices) {
    EXPECT_GT(choice.product.m * choice.product.n * choice.product.k, 0U);
    EXPECT_EQ(nearest_choice(embedded_gemm_table(), choice.product), &choice);
  }
}

GemmTable some_table() {
  return {{{.product = {.m = 1024, .n = 1024, .k = 1024}, .configuration = {}},
           {.product = {.m = 4096, .n = 4096, .k = 4096}, .configuration = {}},
           {.product = {.m = 4096, .n = 4096, .k = 1024}, .configuration = {}}}};
}

TEST(NearestChoice, IsTheOneFewestOctavesAway) {
  const GemmTable table = some_table();
  EXPECT_EQ(nearest_choice(table, {.m = 1, .n = 1, .k = 1}), &table.choices[0]);
  EXPECT_EQ(nearest_choice(table, {.m = 4096, .n = 4096, .k = 2100}), &table.choices[1]);
  EXPECT_EQ(nearest_choice(table, {.m = 4096, .n = 4096, .k = 2000}), &table.choices[2]);
}

TEST(NearestChoice, OfTwoAsLikeIsTheFirst) {
  const GemmTable table = some_table();
  EXPECT_EQ(nearest_choice(table, {.m = 4096, .n = 4096, .k = 2048}), &table.choices[1]);
}

TEST(NearestChoice, SizeOfZeroCountsAsOne) {
  const GemmTable table = some_table();
  EXPECT_EQ(nearest_choice(table, {.m = 4096, .n = 4096, .k = 0}), &table.choices[2]);
}

TEST(NearestChoice, PassesOverWhatDoesNotSuit) {
  const GemmTable table = some_table();
  const auto not_second = [&](const GemmChoice& choice) { return &choice != &table.choices[1]; };
  EXPECT_EQ(nearest_choice(table, {.m = 4096, .n = 4096, .k = 4096}, not_second),
            &table.choices[2]);
}

TEST(NearestChoice, IsNoneWhereNothingSuits) {
  const GemmTable table = some_table();
  const auto never = [](const GemmChoice& /*choice*/) { return false; };
  EXPECT_EQ(nearest_choice(table, {.m = 1, .n = 1, .k = 1}, never), nullptr);
}

}  // namespace

}  // namespace tidemark
