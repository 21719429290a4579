// Reports that were written once and are kept: what read them must go on reading them, and what
// wrote them must go on writing the same bytes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "reports/schema/tables.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/testing/golden_launches.hpp"
#include "reports/testing/said.hpp"

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

// Never made again: where a later minor version cannot read it, a user's old reports are lost to
// it.
TEST(GoldenReport, OfVersionOnePointNoughtIsReadable) {
  const Report report = read_report(path_of("whole-1.0.h5"));
  EXPECT_EQ(report.launch.run_id, "3f1c0000-0000-4000-8000-000000000001");
  EXPECT_EQ(report.results.size(), 6U);
  EXPECT_EQ(report.text(report.results.at(3).reason), "1 of 12 rows moved wrong bytes");
  EXPECT_EQ(report.metrics.at(1).median, 691.0);
  EXPECT_TRUE(report.sms.empty()) << "the table came with 1.1";
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

TEST(GoldenReport, OfANewerMinorVersionReadsWithoutWhatIsNew) {
  EXPECT_TRUE(same_rows(read_report(path_of(kNewerMinor)), report_of(kGoldenLaunches[0])))
      << kMakeAnew;
}

TEST(GoldenReport, OfANewerMinorVersionIsWrittenAgainAsTheSameBytes) {
  EXPECT_EQ(image_of_newer_minor(), bytes_of_file(kNewerMinor)) << kMakeAnew;
}

TEST(GoldenReport, OfANewerMajorVersionWouldBeRefused) {
  const std::string image =
      image_of_another_version(report_of(kGoldenLaunches[0]), kSchemaMajor + 1, 0);
  EXPECT_EQ(error_from([&] { report_of(image, "newer"); }),
            fmt::format("newer: is schema {}.0; this tidemark reads {}.{}; use a tidemark of the "
                        "version that wrote it",
                        kSchemaMajor + 1, kSchemaMajor, kSchemaMinor));
}

TEST(GoldenView, OfAWholeLaunchSaysWhatItSaidInEachFormat) {
  for (const GoldenView& view : kGoldenViews) {
    EXPECT_EQ(text_of(view), bytes_of_file(view.file))
        << view.file << ", after a change of words: build/tests/make_golden reports/golden";
  }
}

using Json = nlohmann::json;

/// What readers rely on: by table and column, type, size, unit and reference.
std::map<std::string, Json> promises_of(const Json& schema) {
  std::map<std::string, Json> made;
  for (const Json& attribute : schema.at("attributes")) {
    made["/" + attribute.at("name").get<std::string>()] = attribute.at("type");
  }
  for (const Json& table : schema.at("tables")) {
    for (const Json& column : table.at("columns")) {
      const std::string name =
          table.at("name").get<std::string>() + "." + column.at("name").get<std::string>();
      made[name] = {column.at("type"), column.at("count"), column.at("unit"),
                    column.at("refers_to"), column.at("none_allowed")};
    }
  }
  made["verdicts"] = schema.at("verdicts");
  return made;
}

TEST(GoldenSchema, NothingOfVersion1_0IsGoneOrOfAnotherType) {
  std::ifstream file(path_of("schema-1.0.json"));
  const auto then = promises_of(Json::parse(file));
  const auto now = promises_of(Json::parse(schema_json()));
  EXPECT_GT(then.size(), 100U);
  for (const auto& [name, promise] : then) {
    ASSERT_TRUE(now.contains(name)) << name << " is gone: that needs a new major version";
    EXPECT_EQ(now.at(name), promise) << name << " is another: that needs a new major version";
  }
}

TEST(GoldenSchema, WhatIsNewSinceVersion1_0SaysSo) {
  std::ifstream file(path_of("schema-1.0.json"));
  const auto then = promises_of(Json::parse(file));
  for (const Table* table : tables()) {
    for (const Column& column : table->columns) {
      const bool old = then.contains(fmt::format("{}.{}", table->name, column.name));
      EXPECT_EQ(std::max(table->since, column.since) == 0, old) << table->name << column.name;
      EXPECT_LE(std::max(table->since, column.since), kSchemaMinor) << table->name << column.name;
    }
  }
}

}  // namespace
}  // namespace tidemark
