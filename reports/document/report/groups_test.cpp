// Results that say the same are one finding.
#include "reports/document/report/groups.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <string>
#include <vector>

#include "reports/testing/example_launch.hpp"

namespace tidemark::reports {
namespace {

/// GPUs on which zfill.corner fails with these reasons.
Report failing(const std::vector<std::string>& reasons) {
  Report report = assemble(example_journals(), {});
  const ResultRow failure = report.results[3];
  report.results.clear();
  report.gpus.resize(reasons.size(), report.gpus[0]);
  for (std::uint32_t gpu = 0; gpu < reasons.size(); ++gpu) {
    report.gpus[gpu].gpu_id = gpu;
    report.results.push_back(failure);
    report.results.back().gpu_id = gpu;
    report.results.back().reason = static_cast<std::uint32_t>(report.strings.size());
    report.strings.push_back(reasons[gpu]);
  }
  return report;
}

std::vector<std::string> reasons_of(const Report& report) {
  std::vector<std::string> made;
  for (const ResultGroup& group : result_groups(report, false)) made.push_back(group.reason);
  return made;
}

TEST(ResultGroups, OneFailureOnDifferentSmsIsOneFinding) {
  EXPECT_EQ(reasons_of(failing({"row 3: got 0x5a [SM 17]", "row 3: got 0x5a [SM 4]"})),
            std::vector<std::string>{"row 3: got 0x5a [SMs 4, 17]"});
}

TEST(ResultGroups, OneFailureOnOneSmKeepsItsWords) {
  EXPECT_EQ(reasons_of(failing({"row 3: got 0x5a [SM 4, 5]", "row 3: got 0x5a [SM 4, 5]"})),
            std::vector<std::string>{"row 3: got 0x5a [SM 4, 5]"});
}

TEST(ResultGroups, FailuresThatDifferInMoreThanSmsAreFindingsOfTheirOwn) {
  EXPECT_EQ(reasons_of(failing({"row 3: got 0x5a [SM 17]", "row 4: got 0x5a [SM 17]"})).size(), 2U);
}

TEST(ResultGroups, NameFewOfManySms) {
  std::vector<std::string> reasons;
  for (int sm = 0; sm < 132; sm += 2) reasons.push_back(fmt::format("got 0x5a [SM {}]", sm));
  EXPECT_EQ(reasons_of(failing(reasons)),
            std::vector<std::string>{"got 0x5a [SMs 0, 2, 4, 6, 8, 10, 12, 14 and 58 more]"});
}

TEST(NamedSms, AreTakenOutOfTheMiddleOfATextToo) {
  const NamedSms named = named_sms("row 3: wrong [SM 17] and more [SM 4, 5]; end");
  EXPECT_EQ(named.text, "row 3: wrong and more; end");
  EXPECT_EQ(named.sms, (std::vector<std::uint32_t>{17, 4, 5}));
}

TEST(NamedSms, AreNothingElse) {
  for (const char* text : {"a [SM ]", "a [SM 1", "a [SM x]", "a [SM 1,2]", "a [SM 1, ]",
                           "a [SM 99999999999]", "[SM 1]"}) {
    EXPECT_EQ(named_sms(text).text, text);
    EXPECT_TRUE(named_sms(text).sms.empty()) << text;
  }
}

}  // namespace
}  // namespace tidemark::reports
