// tidemark-gtest: every case of the plan is a GoogleTest test, for those whose machinery speaks
// GoogleTest: filters, shards, repetition, XML. Each test is a `tidemark run` of its case, so that
// hangs and crashes cost that test alone; what is not GoogleTest's on the command line is given to
// it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "harness/base/child_process.hpp"
#include "harness/base/output.hpp"
#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

using Words = std::vector<std::string>;
using Json = nlohmann::json;

constexpr double kPlanSeconds = 60;
constexpr double kCaseSeconds = 24 * 3600;  // `run` has deadlines of its own
constexpr int kEnvironment = 5;             // as of `run`

/// The tidemark that stands beside this program.
std::string tidemark() {
  return std::filesystem::read_symlink("/proc/self/exe").replace_filename("tidemark").string();
}

ChildAnswer run_tidemark(const Words& words, double seconds) {
  Words argv{tidemark()};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_bounded(argv, seconds);
}

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// "HANG on GPU 3 (node17, GPU-5f1c2d3e): why; replay: tidemark run ..."
std::string text_of(const Json& report, const Json& result) {
  const Json& gpu = report.at("gpus").at(result.at("gpu_id").get<std::size_t>());
  const Json node = gpu.at("node_id");
  const Json& nodes = report.at("nodes");
  const bool known = node.is_number_unsigned() && node.get<std::size_t>() < nodes.size();
  std::string text = fmt::format(
      "{} on GPU {} ({}, {}): {}", result.at("verdict").get<std::string>(),
      result.at("gpu_id").get<std::size_t>(),
      known ? nodes.at(node.get<std::size_t>()).at("hostname").get<std::string>() : "no node",
      gpu.at("uuid").get<std::string>(), result.at("reason").get<std::string>());
  const auto replay = result.at("replay").get<std::string>();
  return replay.empty() ? text : text + "\n  replay: " + replay;
}

/// What the case came to on each GPU: its last attempt.
struct Verdicts {
  std::size_t passed = 0;
  Words skipped, failed;
};

Verdicts verdicts_of(const Json& report, const std::string& name) {
  Verdicts made;
  for (const Json& result : report.at("results")) {
    if (report.at("cases").at(result.at("case_id").get<std::size_t>()).at("name") != name) continue;
    const auto verdict = result.at("verdict").get<std::string>();
    if (verdict == "pass")
      ++made.passed;
    else if (verdict == "skip" || verdict == "waived")
      made.skipped.push_back(text_of(report, result));
    else
      made.failed.push_back(text_of(report, result));
  }
  return made;
}

class CaseTest : public testing::Test {
 public:
  CaseTest(std::string name, Words options)
      : name_(std::move(name)), options_(std::move(options)) {}

  static inline std::string unusable;  // why this machine runs no case: the line of the first

  void TestBody() override {
    if (!unusable.empty()) GTEST_SKIP() << "not run: " << unusable;
    const ScratchFolder folder;
    const std::string file = folder.file("case.h5");
    const ChildAnswer ran =
        run_tidemark(joined({"run", "--cases", name_, "--out", file}, options_), kCaseSeconds);
    const ChildAnswer shown = run_tidemark({"show", file, "--json"}, kCaseSeconds);
    const Json report = Json::parse(shown.out, nullptr, false);
    if (!report.is_object()) {
      if (ran.status == kEnvironment) unusable = ran.err;
      FAIL() << fmt::format("no report; tidemark ended with {}: {}", ran.status, ran.err);
    }
    if (report.at("launch").at("virtual") == true) RecordProperty("device", "virtual");
    const Verdicts verdicts = verdicts_of(report, name_);
    for (const std::string& text : verdicts.failed) ADD_FAILURE() << text;
    if (!verdicts.failed.empty()) return;
    if (verdicts.passed == 0 && !verdicts.skipped.empty()) GTEST_SKIP() << verdicts.skipped.front();
    EXPECT_GT(verdicts.passed, 0U) << "the report has no result of this case";
    EXPECT_EQ(ran.status, 0) << ran.err;
  }

 private:
  std::string name_;
  Words options_;
};

/// A case is named as it is elsewhere: "load.tile.swizzle" is the test swizzle of load.tile.
void add_test(const std::string& name, const Words& options) {
  const std::size_t dot = name.rfind('.');
  testing::RegisterTest(name.substr(0, dot).c_str(), name.substr(dot + 1).c_str(), nullptr, nullptr,
                        __FILE__, __LINE__, [=] { return new CaseTest(name, options); });
}

/// Why the options cannot be those of each test; empty where they can.
std::string refusal_of(const Words& options) {
  for (const std::string& option : options) {
    const std::string_view name = std::string_view(option).substr(0, option.find('='));
    if (name == "--cases") return "--cases: use --gtest_filter";
    if (name == "--out") return "--out: each test has a report of its own; use --gtest_output";
  }
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr)
    return "is a rank of mpirun, where each would run every test; start one, with --ranks N";
  return "";
}

/// Returns the exit code of a plan that cannot be made, after its line.
int add_tests(const Words& options) {
  if (const std::string why = refusal_of(options); !why.empty()) {
    write_error(fmt::format("tidemark-gtest: {}\n", why));
    return 2;
  }
  const ChildAnswer plan =
      run_tidemark(joined({"run", "--dry-run", "--json"}, options), kPlanSeconds);
  const Json made = Json::parse(plan.out, nullptr, false);
  if (plan.status != 0 || !made.is_object()) {
    write_error(plan.started ? plan.err
                             : fmt::format("tidemark-gtest: cannot run {}; install "
                                           "both programs in one folder\n",
                                           tidemark()));
    return plan.status > 0 ? plan.status : 2;
  }
  for (const Json& one : made.at("cases")) add_test(one.at("name").get<std::string>(), options);
  return 0;
}

}  // namespace
}  // namespace tidemark

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const int refused = tidemark::add_tests({argv + 1, argv + argc});
  if (refused != 0) return refused;
  const int code = RUN_ALL_TESTS();
  if (const std::string& why = tidemark::CaseTest::unusable; !why.empty()) {
    tidemark::write_error(why);
    return tidemark::kEnvironment;
  }
  // A mistyped filter would be green for ever; a shard may well be without tests.
  const bool chosen = GTEST_FLAG_GET(list_tests) || std::getenv("GTEST_TOTAL_SHARDS") != nullptr ||
                      testing::UnitTest::GetInstance()->test_to_run_count() > 0;
  if (code != 0 || chosen) return code;
  tidemark::write_error(
      "tidemark-gtest: --gtest_filter matches no test; --gtest_list_tests shows all\n");
  return 2;
}
