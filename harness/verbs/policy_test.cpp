// --policy of run, compare and recover, by the built program on the virtual device.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/report.hpp"
#include "reports/testing/synthetic_fleet.hpp"

namespace tidemark {
namespace {

std::string policy_in(const ScratchFolder& folder, const std::string& text) {
  std::ofstream(folder.file("policy.json")) << text;
  return folder.file("policy.json");
}

std::string waiver_of(const std::string& cases, const std::string& gpu = "*") {
  return R"({"waivers": [{"case": ")" + cases + R"(", "gpu": ")" + gpu +
         R"(", "owner": "Ann", "link": "T-1", "expires": "2999-12-31"}]})";
}

/// A launch of one case and two virtual devices that is built wrong, under this policy.
Ran failing_run(const ScratchFolder& folder, const std::string& policy,
                std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"run",
                                        "--device",
                                        "virtual",
                                        "--gpus",
                                        "2",
                                        "--cases",
                                        "load.tile.swizzle",
                                        "--fault",
                                        "load_swizzle_ignored",
                                        "--policy",
                                        policy_in(folder, policy),
                                        "--out",
                                        folder.file("x.h5")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_binary(arguments);
}

TEST(PolicyOfRun, AWaivedFailureBesideAPassIs0) {
  const ScratchFolder folder;
  const Ran ran =
      failing_run(folder, waiver_of("load.tile.swizzle"), {"--cases", "load.tile.rank1"});
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_EQ(ran.out.find("FAIL"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("waived load.tile.swizzle"), std::string::npos) << ran.out;
  const Report report = read_report(folder.file("x.h5"));
  EXPECT_EQ(std::count_if(report.results.begin(), report.results.end(),
                          [](const auto& row) { return row.verdict == Verdict::waived; }),
            2);
}

TEST(PolicyOfRun, AFailureOfAGpuThatIsNotNamedIs1) {
  const ScratchFolder folder;
  EXPECT_EQ(failing_run(folder, waiver_of("load.tile.swizzle", "virtual-0-1")).exit, 1);
}

TEST(PolicyOfRun, AnUnexpectedPassIs1WithStrict) {
  const ScratchFolder folder;
  const std::string policy = policy_in(folder, waiver_of("load.tile.rank1"));
  const auto run = [&](const std::string& out, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"run",  "--device", "virtual",         "--gpus",
                                          "1",    "--cases",  "load.tile.rank1", "--policy",
                                          policy, "--out",    folder.file(out)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_binary(arguments).exit;
  };
  EXPECT_EQ(run("a.h5", {}), 0);
  EXPECT_EQ(run("b.h5", {"--strict"}), 1);
}

TEST(PolicyOfRun, AWrongPolicyIsOneLineAndNoFile) {
  const ScratchFolder folder;
  const Ran ran = failing_run(folder, R"({"waivers": [{"case": "load.*"}]})");
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err, "tidemark: policy " + folder.file("policy.json") +
                         ": /waivers/0/owner is missing; give the name of who answers for it\n");
  EXPECT_FALSE(std::filesystem::exists(folder.file("x.h5")));
  EXPECT_FALSE(std::filesystem::exists(folder.file("x.h5.run")));
}

TEST(PolicyOfRun, NothingInAPolicyDrivesTheTerminal) {
  const ScratchFolder folder;
  const Ran ran = failing_run(folder, "{\"\\u001b[31m\\u009b\": 1, \"x\": \"\x7f\"}");
  EXPECT_EQ(ran.exit, 2);
  EXPECT_EQ(ran.err.find_first_of("\x1b\x9b\x7f"), std::string::npos) << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
}

/// The code of compare for a fleet whose first case fails on GPU 0 after the change.
int compared(const std::string& policy, std::vector<std::string> more = {}, double slower = 0) {
  const ScratchFolder folder;
  const SyntheticFleet fleet = {.gpus = 8, .cases = 4, .seed = 3};
  write_report(synthetic_launch(fleet, 0, false, {}), folder.file("a.h5"));
  Report after = synthetic_launch(fleet, 0, true, {.first_case = slower});
  if (slower == 0) after.results[0].verdict = Verdict::fail;
  write_report(after, folder.file("b.h5"));
  std::vector<std::string> arguments = {"compare", folder.file("a.h5"), folder.file("b.h5"),
                                        "--policy", policy_in(folder, policy)};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return run_binary(arguments).exit;
}

TEST(PolicyOfCompare, AWaivedFindingIs0) {
  EXPECT_EQ(compared(waiver_of("synthetic.case_0000")), 0);
  EXPECT_EQ(compared(waiver_of("synthetic.case_0001")), 1);
}

TEST(PolicyOfCompare, WhatALaunchWaivedIsWaivedNoMoreUnderAPolicyThatDoesNotSaySo) {
  const ScratchFolder folder;
  ASSERT_EQ(run_binary({"run", "--device", "virtual", "--gpus", "2", "--cases", "load.tile.swizzle",
                        "--out", folder.file("a.h5")})
                .exit,
            0);
  ASSERT_EQ(failing_run(folder, waiver_of("load.tile.swizzle")).exit, 5);  // nothing passed
  const std::vector<std::string> compare = {"compare", folder.file("a.h5"), folder.file("x.h5"),
                                            "--allow-confounders", "seed,arguments"};
  const Ran stored = run_binary(compare);
  EXPECT_EQ(stored.exit, 0) << stored.out;
  EXPECT_NE(stored.out.find("WAIVED load.tile.swizzle"), std::string::npos) << stored.out;
  std::vector<std::string> with_policy = compare;
  with_policy.insert(with_policy.end(), {"--policy", policy_in(folder, "{}")});
  const Ran own = run_binary(with_policy);
  EXPECT_EQ(own.exit, 1) << own.out;
  EXPECT_NE(own.out.find("NEW FAIL load.tile.swizzle"), std::string::npos) << own.out;
}

TEST(PolicyOfCompare, FailsOnWhatThePolicySays) {
  EXPECT_EQ(compared(R"({"fail_on": ["none"]})"), 0);
  EXPECT_EQ(compared(R"({"fail_on": ["regressed"]})", {}, -0.2), 3);
}

TEST(PolicyOfCompare, WhatIsTypedGoesBeforeThePolicy) {
  EXPECT_EQ(compared(R"({"fail_on": ["none"]})", {"--fail-on", "new_fail"}), 1);
  EXPECT_EQ(compared(R"({"floor_percent": 50})", {"--floor", "1"}, -0.2), 3);
  EXPECT_EQ(compared(R"({"floor_percent": 50})", {}, -0.2), 0);
}

TEST(PolicyOfCompare, FloorsOfCasesStandBesideTheTypedOne) {
  const std::string floors = R"({"floors": [{"case": "synthetic.*", "floor_percent": 50}]})";
  EXPECT_EQ(compared(floors, {"--floor", "1"}, -0.2), 0);
}

}  // namespace
}  // namespace tidemark
