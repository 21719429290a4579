// What the verb says and returns: exit codes, and one line for wrong input.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark {
namespace {

const SyntheticFleet kFleet = {.gpus = 8, .cases = 4, .seed = 3};

std::string written(const ScratchFolder& folder, const std::string& name, const Report& report) {
  write_report(report, folder.file(name));
  return folder.file(name);
}

Report after(const FleetChange& change = {}) { return synthetic_launch(kFleet, 0, true, change); }

Ran compared(const Report& fresh, const std::vector<std::string>& options = {}) {
  const ScratchFolder folder;
  std::vector<std::string> arguments = {
      "compare", written(folder, "a.h5", synthetic_launch(kFleet, 0, false, {})),
      written(folder, "b.h5", fresh)};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return run_binary(arguments);
}

TEST(CompareVerb, WhatIsOnlyInconclusiveFailsWhereAskedTo) {
  EXPECT_EQ(compared(after()).exit, 0);
  EXPECT_EQ(compared(after(), {"--fail-on", "inconclusive"}).exit, 6);
}

TEST(CompareVerb, ARegressionIs3UnlessNotAskedFor) {
  EXPECT_EQ(compared(after({.first_case = -0.2})).exit, 3);
  EXPECT_EQ(compared(after({.first_case = -0.2}), {"--fail-on", "none"}).exit, 0);
}

TEST(OutlierGpu, Is3WhereAskedFor) {
  const ScratchFolder folder;
  const std::string path = written(folder, "a.h5", after({.first_gpu = -0.3}));
  EXPECT_EQ(run_binary({"show", path}).exit, 0);
  EXPECT_EQ(run_binary({"show", path, "--fail-on", "outlier"}).exit, 3);
  EXPECT_EQ(compared(after({.first_gpu = -0.3}), {"--fail-on", "outlier"}).exit, 3);
}

TEST(CompareVerb, ANewFailureIs1) {
  Report fresh = after();
  fresh.results[0].verdict = Verdict::fail;
  EXPECT_EQ(compared(fresh).exit, 1);
}

TEST(CompareVerb, AResultThatIsMissingIs4) {
  Report fresh = after();
  fresh.results[0].verdict = Verdict::not_run;
  EXPECT_EQ(compared(fresh).exit, 4);
}

TEST(CompareVerb, ANewFailureCountsBeforeARegressionAndWhatIsMissing) {
  Report fresh = after({.first_case = -0.2});
  fresh.results[30].verdict = Verdict::fail;
  fresh.results[31].verdict = Verdict::not_run;
  EXPECT_EQ(compared(fresh).exit, 1);
}

TEST(CompareVerb, PrintsJsonThatNamesTheFindings) {
  const Ran ran = compared(after({.first_case = -0.2}), {"--json"});
  const nlohmann::json json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json.at("result"), "REGRESSION");
  EXPECT_EQ(json.at("cause"), "driver");
  EXPECT_EQ(json.at("speed")[0].at("verdict"), "regressed");
}

TEST(CompareVerb, WritesForOthersAndReturnsTheSameCode) {
  for (const auto& [option, begin] : std::vector<std::pair<std::string, std::string>>{
           {"--html", "<!DOCTYPE html>"},
           {"--md", "## tidemark: REGRESSION: do not roll out\n"},
           {"--csv", "line,case,metric,"},
           {"--junit", "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites "},
           {"--json", "{\n"}}) {
    const Ran ran = compared(after({.first_case = -0.2}), {option});
    EXPECT_EQ(ran.exit, 3) << option;
    EXPECT_TRUE(ran.out.starts_with(begin)) << option << "\n" << ran.out.substr(0, 100);
  }
}

TEST(CompareVerb, WritesInOneFormatAtATime) {
  for (const char* other : {"--html", "--explain=synthetic.case_0000"}) {
    const Ran ran = compared(after(), {"--json", other});
    EXPECT_EQ(ran.exit, 2) << other;
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST(CompareVerb, TakesReportsBehindTheNamesOfFindingsAndConfounders) {
  const ScratchFolder folder;
  const std::string a = written(folder, "a.h5", synthetic_launch(kFleet, 0, false, {}));
  const std::string b = written(folder, "b.h5", after({.first_case = -0.2}));
  EXPECT_EQ(run_binary({"compare", "--fail-on", "new_fail,flaky", a, b}).exit, 0);
  EXPECT_EQ(run_binary({"compare", "--allow-confounders", "vbios", a, b}).exit, 3);
}

TEST(CompareVerb, IsAsWideAsColumnsSays) {
  const ScratchFolder folder;
  const std::string a = written(folder, "a.h5", synthetic_launch(kFleet, 0, false, {}));
  const std::string b = written(folder, "b.h5", after({.first_case = -0.2}));
  const Ran ran = run_binary({"compare", a, b}, {{"COLUMNS", "60"}});
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 60U) << line;
}

TEST(CompareVerb, ACaseThatIsNotThereAnyMoreIs4) {
  Report fresh = after();
  fresh.cases.pop_back();
  std::erase_if(fresh.results, [](const ResultRow& row) { return row.case_id == 3; });
  std::erase_if(fresh.metrics, [](const MetricRow& row) { return row.result_id >= 24; });
  EXPECT_EQ(compared(fresh).exit, 4);
}

TEST(CompareVerb, AGpuThatIsNotThereAnyMoreIs4) {
  Report fresh = after();
  fresh.gpus[7].uuid = FixedText<48>::of("GPU-another");
  EXPECT_EQ(compared(fresh).exit, 4);
}

TEST(CompareVerb, ANodeThatIsNotThereAnyMoreIs4) {
  const ScratchFolder folder;
  SyntheticFleet both = kFleet;
  both.gpus = 16;
  EXPECT_EQ(run_binary({"compare", written(folder, "a.h5", synthetic_launch(both, 0, false, {})),
                        written(folder, "b.h5", after())})
                .exit,
            4);
}

TEST(CompareVerb, RefusesWhatItDoesNotKnowWithOneLine) {
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--fail-on", "regresed"},
                                                {"--allow-confounders", "vboos"},
                                                {"--pair", "name"},
                                                {"--floor", "0"},
                                                {"--references", "/no/such.json"},
                                                {"--explain", "no.such.case"}}) {
    const Ran ran = compared(after(), wrong);
    EXPECT_EQ(ran.exit, 2) << wrong[0];
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    EXPECT_NE(ran.err.find(wrong[0]), std::string::npos) << ran.err;
  }
}

TEST(CompareVerb, DoesNotWaitForAPipeInThePlaceOfReferences) {
  const ScratchFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("pipe").c_str(), 0600), 0);
  const Ran ran = compared(after(), {"--references", folder.file("pipe")});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_NE(ran.err.find("is no plain file"), std::string::npos) << ran.err;
}

TEST(CompareVerb, RefusesOneReportAndAMixtureOfForms) {
  EXPECT_EQ(run_binary({"compare", "a.h5"}).exit, 2);
  EXPECT_EQ(run_binary({"compare", "a.h5", "--new", "b.h5"}).exit, 2);
}

TEST(CompareVerb, RefusesAFileThatIsNoReport) {
  const Ran ran = run_binary({"compare", "/etc/os-release", "/etc/os-release"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

/// What compare tells of two launches of the virtual device, whose driver has this fault in the
/// new.
nlohmann::json answers_of(const std::string& cases, const std::string& fault) {
  const ScratchFolder folder;
  const std::vector<std::string> run = {"run", "--device", "virtual", "--cases",
                                        cases, "--seed",   "7",       "--out"};
  std::vector<std::string> base = run, fresh = run;
  base.push_back(folder.file("a.h5"));
  fresh.insert(fresh.end(), {folder.file("b.h5"), "--fault", fault});
  EXPECT_EQ(run_binary(base).exit, 0);
  EXPECT_EQ(run_binary(fresh).exit, 0);
  const Ran ran = run_binary({"compare", folder.file("a.h5"), folder.file("b.h5"), "--json"});
  nlohmann::json json = nlohmann::json::parse(ran.out);
  EXPECT_EQ(json.at("result"), "CHANGED") << fault;
  return json.at("answers");
}

TEST(DriverAnswers, CompareNamesTheBitOfTensorMaps) {
  const nlohmann::json answers = answers_of("encode.tiled", "encode_other_map_bit");
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].at("bits_by_byte"), (nlohmann::json{{"10", 0x20}}));
  EXPECT_EQ(answers[0].at("in_common"), (nlohmann::json{"f32", "rank 3", "swizzle 0"}));
}

TEST(DriverAnswers, CompareNamesTheCallThatIsRefused) {
  const nlohmann::json answers = answers_of("behaviour.encode.tiled", "encode_other_open_answer");
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].at("base"), nlohmann::json{0});
  EXPECT_EQ(answers[0].at("new"), nlohmann::json{1});
  EXPECT_EQ(answers[0].at("in_common"), nlohmann::json{"rank 4"});
}

TEST(DriverAnswers, CompareNamesTheKernelWithMoreRegisters) {
  const nlohmann::json answers = answers_of("behaviour.compiled", "compiled_more_registers");
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].at("gpus").size(), 1U);
  EXPECT_EQ(answers[0].at("subject"), "kernel 5");
  EXPECT_EQ(answers[0].at("question"), "registers");
}

TEST(DriverAnswers, CompareNamesTheDeviceAttribute) {
  const nlohmann::json answers = answers_of("behaviour.limits", "driver_other_attribute");
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].at("question"), "108");
}

TEST(DriverAnswers, OfAnEncoderAreRecordedOnceForTwoGpus) {
  const ScratchFolder folder;
  const std::string path = folder.file("a.h5");
  run_binary({"run", "--device", "virtual", "--gpus", "2", "--cases", "encode.im2col",
              "behaviour.limits", "--out", path});
  const Report report = read_report(path);
  std::set<std::uint32_t> encoders, limits;  // GPUs
  for (const AnswerRow& row : report.answers) {
    const ResultRow& result = report.results[row.result_id];
    const bool encodes = report.cases[result.case_id].name.view().starts_with("encode");
    (encodes ? encoders : limits).insert(result.gpu_id);
  }
  EXPECT_EQ(encoders, std::set<std::uint32_t>{0});
  EXPECT_EQ(limits, (std::set<std::uint32_t>{0, 1}));
}

}  // namespace
}  // namespace tidemark
