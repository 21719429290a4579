// The printed schema against the description it is made of.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "reports/schema/tables.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

TEST(SchemaText, BeginsWithFormatAndVersion) {
  EXPECT_TRUE(schema_text().starts_with(
      fmt::format("tidemark-report {}.{}\n", kSchemaMajor, kSchemaMinor)));
}

TEST(SchemaText, TellsTypeReferenceUnitAndMeaningOfAColumn) {
  const std::string text = schema_text();
  EXPECT_TRUE(
      has(text, "  seconds            f64             duration; NaN when no attempt ended [s]\n"))
      << text;
  EXPECT_TRUE(has(text, "  uuid                   text[48]        UUID of the GPU\n")) << text;
  EXPECT_TRUE(has(text, "u32 -> cases    the case\n")) << text;
}

TEST(SchemaText, NumbersTheVerdicts) {
  EXPECT_TRUE(has(schema_text(),
                  " pass=0 fail=1 flaky=2 hang=3 crash=4 sticky=5 gpu_lost=6 "
                  "unkillable=7 tool_error=8 skip=9 waived=10 unexpected_pass=11 "
                  "not_run=12\n"));
}

TEST(SchemaJson, HoldsEveryColumnOfEveryTable) {
  const nlohmann::json json = nlohmann::json::parse(schema_json());
  ASSERT_EQ(json.at("tables").size(), tables().size());
  for (std::size_t t = 0; t < tables().size(); ++t) {
    const nlohmann::json& table = json.at("tables").at(t);
    EXPECT_EQ(table.at("name"), tables()[t]->name);
    ASSERT_EQ(table.at("columns").size(), tables()[t]->columns.size());
    for (std::size_t c = 0; c < tables()[t]->columns.size(); ++c) {
      EXPECT_EQ(table.at("columns").at(c).at("name"), tables()[t]->columns[c].name);
      EXPECT_EQ(table.at("columns").at(c).at("unit"), tables()[t]->columns[c].unit);
    }
  }
}

TEST(SchemaJson, HoldsEveryRootAttributeWithItsType) {
  const nlohmann::json json = nlohmann::json::parse(schema_json());
  ASSERT_EQ(json.at("attributes").size(), 18U);
  EXPECT_EQ(json.at("attributes").at(9),
            (nlohmann::json{{"name", "seed"}, {"type", "u64"}, {"meaning", "of the launch"}}));
  EXPECT_EQ(json.at("major"), kSchemaMajor);
  EXPECT_EQ(json.at("minor"), kSchemaMinor);
}

}  // namespace
}  // namespace tidemark
