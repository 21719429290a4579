// tidemark-gtest as those use it who have GoogleTest's options and XML.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

using Words = std::vector<std::string>;

Ran run_gtest(const Words& words, const Environment& environment = {}) {
  Words argv{TIDEMARK_GTEST, "--gtest_color=no"};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_program(argv, environment);
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(GtestProgram, ListsEveryCaseOfThePlan) {
  const Ran ran = run_gtest({"--gtest_list_tests", "--level", "nightly"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "\nload.tile.\n")) << ran.out;
  EXPECT_TRUE(has(ran.out, "\n  swizzle\n")) << ran.out;
}

TEST(GtestProgram, RunsTheCasesOfItsFilter) {
  const Ran ran = run_gtest({"--gtest_filter=zfill.side:zfill.whole", "--device", "virtual"});
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_TRUE(has(ran.out, "[       OK ] zfill.side ")) << ran.out;
  EXPECT_TRUE(has(ran.out, "[  PASSED  ] 2 tests.")) << ran.out;
}

TEST(GtestProgram, AFilterThatMatchesNothingIsNoPass) {
  const Ran ran = run_gtest({"--gtest_filter=nosuch*", "--device", "virtual"});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "--gtest_filter matches no test")) << ran.err;
}

TEST(GtestProgram, AShardMayBeWithoutTests) {
  const Ran ran = run_gtest({"--gtest_filter=zfill.side", "--device", "virtual"},
                            {{"GTEST_TOTAL_SHARDS", "2"}, {"GTEST_SHARD_INDEX", "1"}});
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
}

TEST(GtestProgram, FailsWithReasonAndReplayLine) {
  const Ran ran = run_gtest({"--gtest_filter=load.tile.swizzle", "--device", "virtual", "--fault",
                             "load_swizzle_ignored"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_TRUE(has(ran.out, "fail on GPU 0 (")) << ran.out;
  EXPECT_TRUE(has(ran.out, "\n  replay: tidemark run --cases load.tile.swizzle --seed "))
      << ran.out;
}

TEST(GtestProgram, CrashCostsItsOwnTest) {
  const Ran ran = run_gtest({"--gtest_filter=zfill.side:zfill.whole", "--device", "virtual"},
                            {{"TIDEMARK_TEST_HOOK", "crash@zfill.side"}});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_TRUE(has(ran.out, "crash on GPU 0 (")) << ran.out;
  EXPECT_TRUE(has(ran.out, "[       OK ] zfill.whole ")) << ran.out;
}

TEST(GtestProgram, RunWithoutAReportFailsWithItsLine) {
  const Ran ran = run_gtest({"--gtest_filter=zfill.side", "--device", "virtual", "--gpus", "0"});
  EXPECT_EQ(ran.exit, 1);
  EXPECT_TRUE(has(ran.out, "no report; tidemark ended with 2: tidemark: --gpus '0': ")) << ran.out;
}

TEST(GtestProgram, WithoutAGpuOneTestFailsTheOthersAreSkippedAndTheCodeIsThatOfRun) {
  const Ran ran =
      run_gtest({"--gtest_filter=zfill.side:zfill.whole"}, {{"CUDA_VISIBLE_DEVICES", ""}});
  EXPECT_EQ(ran.exit, 5) << ran.out;
  EXPECT_TRUE(has(ran.out, "[  FAILED  ] 1 test,")) << ran.out;
  EXPECT_TRUE(has(ran.out, "[  SKIPPED ] 1 test,")) << ran.out;
  EXPECT_EQ(ran.err.find("tidemark: rank 0 on host "), 0U) << ran.err;
}

TEST(GtestProgram, WhatIsSkippedDoesNotPass) {
  const Ran ran = run_gtest({"--gtest_filter=peer.*", "--device", "virtual"});
  EXPECT_EQ(ran.exit, 0) << ran.out;
  EXPECT_TRUE(has(ran.out, "[  PASSED  ] 0 tests.")) << ran.out;
}

TEST(GtestProgram, WritesXmlThatSaysWhatDeviceItWas) {
  const ScratchFolder folder;
  const Ran ran = run_gtest({"--gtest_filter=zfill.side", "--device", "virtual",
                             "--gtest_output=xml:" + folder.file("x.xml")});
  EXPECT_EQ(ran.exit, 0) << ran.out;
  std::stringstream text;
  text << std::ifstream(folder.file("x.xml")).rdbuf();
  EXPECT_TRUE(has(text.str(), "classname=\"zfill\"")) << text.str();
  EXPECT_TRUE(has(text.str(), "name=\"device\" value=\"virtual\"")) << text.str();
}

TEST(GtestProgram, RefusesWhatIsNotForEachTest) {
  for (const auto& [words, line] : std::vector<std::pair<Words, std::string>>{
           {{"--cases", "zfill.*"}, "tidemark-gtest: --cases: use --gtest_filter\n"},
           {{"--out=x.h5"},
            "tidemark-gtest: --out: each test has a report of its own; use --gtest_output\n"},
           {{"--level", "never"}, "tidemark: --level 'never': give quick, nightly or soak\n"}}) {
    const Ran ran = run_gtest(words);
    EXPECT_EQ(ran.exit, 2) << ran.out;
    EXPECT_EQ(ran.err, line);
  }
}

TEST(GtestProgram, IsNoRankOfMpirun) {
  const Ran ran = run_gtest({}, {{"OMPI_COMM_WORLD_RANK", "0"}});
  EXPECT_EQ(ran.exit, 2);
  EXPECT_TRUE(has(ran.err, "start one, with --ranks N")) << ran.err;
}

}  // namespace
}  // namespace tidemark
