// Results that say the same, and what points at sick hardware.
#include "reports/document/report/document.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "reports/journal/record.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

/// GPUs on which zfill.corner fails with these reasons.
Report failing(const std::vector<std::string>& reasons) {
  Report report = example();
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

std::vector<std::string> reasons_of(const Report& report, bool each_reason = true) {
  std::vector<std::string> made;
  for (const ResultGroup& group : result_groups(report, false, each_reason))
    made.push_back(group.reason);
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

TEST(ResultGroups, OfACaseWithSeveralReasonsNameOneAndCountTheOthers) {
  EXPECT_EQ(reasons_of(failing({"row 3: got 0x5a [SM 17]", "row 4: got 0x5a [SM 4]",
                                "row 3: got 0x5a [SM 5]"}),
                       false),
            std::vector<std::string>{"row 3: got 0x5a [SMs 5, 17]; 1 result for other reasons"});
}

TEST(ResultGroups, NameFewOfManySms) {
  std::vector<std::string> reasons;
  for (int sm = 0; sm < 132; sm += 2) reasons.push_back(fmt::format("got 0x5a [SM {}]", sm));
  EXPECT_EQ(reasons_of(failing(reasons)),
            std::vector<std::string>{"got 0x5a [SMs 0, 2, 4, 6, 8, 10, 12, 14 and 58 more]"});
}

TEST(Families, CountResultsGpusAndSms) {
  const Report report = example();
  const auto families = families_of(report);
  EXPECT_EQ(families.size(), 3U);
  const Family& zfill = families.at("zfill");
  EXPECT_EQ(zfill.passed, 1U);
  EXPECT_EQ(zfill.planned, 2U);
  EXPECT_EQ(zfill.gpus.size(), 2U);
  EXPECT_EQ(zfill.sms, 2U) << "two of each GPU";
  EXPECT_EQ(families.at("gemm").sms, 0U);
}

TEST(Families, OfWhichNotAllPassedStandFirst) {
  const TextTable all = families_table(example(), true), some = families_table(example(), false);
  EXPECT_EQ(all.rows.size(), 3U);
  EXPECT_EQ(all.rows.front().front().text, "zfill");
  EXPECT_EQ(some.rows.size(), 1U);
}

TEST(Families, WithASkipAreNotAmongThoseThatFailed) {
  Report report = example();
  report.results[3].verdict = Verdict::skip;
  const TextTable all = families_table(report, true);
  EXPECT_TRUE(families_table(report, false).rows.empty());
  EXPECT_EQ(all.rows.back().front().text, "zfill");
  EXPECT_EQ(all.rows.back()[2].text, "1") << "skipped";
  EXPECT_EQ(all.rows.back()[1].tone, Tone::none);
}

TEST(Families, WithAWaivedFailureAreNotAmongThoseThatFailed) {
  Report report = example();
  report.results[3].verdict = Verdict::waived;
  EXPECT_TRUE(families_table(report, false).rows.empty());
}

TEST(Families, ThatDidNotRunAreAmongThoseThatFailed) {
  Report report = example();
  report.results[3].verdict = Verdict::not_run;
  EXPECT_EQ(families_table(report, false).rows.size(), 1U);
}

TEST(Families, HaveTheSmsOfTheGpuWithTheFewest) {
  Report report = example();
  report.sms.back().families = 0;
  EXPECT_EQ(families_of(report).at("zfill").sms, 1U);
}

TEST(Families, OfAnOlderReportHaveNoSms) {
  Report report = example();
  for (SmRow& row : report.sms) row.families = 0;
  EXPECT_EQ(families_table(report, true).rows.front().back().text, "-");
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

namespace {

std::uint32_t text_in(Report& report, const std::string& text) {
  report.strings.push_back(text);
  return static_cast<std::uint32_t>(report.strings.size() - 1);
}

Report without_events() {
  Report report = example();
  report.events.clear();
  for (GpuRow& gpu : report.gpus) gpu.ecc_uncorrected = gpu.remapped_rows_pending = 0;
  for (ResultRow& result : report.results) result.throttle_reasons = 0;
  return report;
}

TEST(Hardware, NothingIsSaidOfHealthyGpus) {
  EXPECT_TRUE(hardware_lines(without_events()).empty());
}

TEST(Hardware, EventsAreCountedByGpu) {
  Report report = without_events();
  const std::uint32_t xid = text_in(report, "Xid 43");
  for (int i = 0; i < 3; ++i) report.events.push_back({.gpu_id = 1, .text = xid});
  ASSERT_EQ(hardware_lines(report).size(), 1U);
  const std::string line = hardware_lines(report)[0];
  EXPECT_TRUE(line.starts_with("GPU 1 (")) << line;
  EXPECT_TRUE(line.ends_with("): Xid 43, 3 times")) << line;
}

TEST(Hardware, WhatWasLeftOutComesFirst) {
  Report report = without_events();
  const std::uint32_t xid = text_in(report, "Xid 43");
  report.events.push_back({.gpu_id = 1, .text = xid});
  report.events.push_back({.gpu_id = kNoRow,
                           .source = text_in(report, std::string(kLeftOut)),
                           .text = text_in(report, "GPU 3 of host a is in use")});
  ASSERT_EQ(hardware_lines(report).size(), 2U);
  EXPECT_EQ(hardware_lines(report)[0], "left out: GPU 3 of host a is in use");
}

TEST(Hardware, MemoryErrorsAndRowsToRemapAreNamed) {
  Report report = without_events();
  report.gpus[0].ecc_uncorrected = 2;
  report.gpus[0].remapped_rows_pending = 1;
  ASSERT_EQ(hardware_lines(report).size(), 1U);
  EXPECT_TRUE(hardware_lines(report)[0].ends_with(
      ": 2 uncorrected memory errors before the launch; 1 memory row to be remapped"))
      << hardware_lines(report)[0];
}

TEST(Hardware, WhatNvmlRefusedIsUnknown) {
  Report report = without_events();
  report.gpus[0].ecc_uncorrected = ~std::uint64_t{};
  report.gpus[0].remapped_rows_pending = 0xffffffff;
  report.results[0].throttle_reasons = std::uint64_t{1} << 63;
  ASSERT_EQ(hardware_lines(report).size(), 1U);
  EXPECT_TRUE(
      hardware_lines(report)[0].ends_with(": throttling unknown; uncorrected memory errors "
                                          "unknown; memory rows to be remapped unknown"))
      << hardware_lines(report)[0];
}

TEST(Hardware, AnXidSaysWhatToDo) {
  Report report = without_events();
  const std::uint32_t nvml = text_in(report, "nvml"), off = text_in(report, "Xid 79"),
                      fault = text_in(report, "Xid 43");
  report.events.push_back({.gpu_id = 0, .source = nvml, .code = 79, .text = off});
  report.events.push_back({.gpu_id = 1, .source = nvml, .code = 43, .text = fault});
  ASSERT_EQ(hardware_lines(report).size(), 2U);
  EXPECT_TRUE(has(hardware_lines(report)[0], "drain"));
  EXPECT_TRUE(has(hardware_lines(report)[1], "unless it recurs on one GPU"));
}

TEST(ShownGpus, WhatNvmlRefusedIsNoNumber) {
  Report report = without_events();
  for (GpuRow& gpu : report.gpus) gpu.nvlinks_up = gpu.remapped_rows_pending = 0xffffffff;
  EXPECT_FALSE(has(show(report, {}, "html"), "4,294,967,295"));
  EXPECT_FALSE(has(show(report, {}, "html"), "4.295e+09"));
}

TEST(Hardware, HeatIsNamedAndThePowerCapIsNot) {
  Report report = without_events();
  report.results[0].throttle_reasons = 0x4;  // the power cap: a GPU at work has it
  EXPECT_TRUE(hardware_lines(report).empty());
  report.results[0].throttle_reasons = 0x44;
  ASSERT_EQ(hardware_lines(report).size(), 1U);
  EXPECT_TRUE(hardware_lines(report)[0].ends_with(
      ": clocks held down in 1 of 3 results (hardware thermal slowdown)"))
      << hardware_lines(report)[0];
}

TEST(Hardware, TheGpuWithMostEvidenceIsFirst) {
  Report report = without_events();
  const std::uint32_t xid = text_in(report, "Xid 79");
  report.gpus[0].ecc_uncorrected = 2;
  for (int i = 0; i < 2; ++i) report.events.push_back({.gpu_id = 1, .text = xid});
  ASSERT_EQ(hardware_lines(report).size(), 2U);
  EXPECT_TRUE(hardware_lines(report)[0].starts_with("GPU 1 ("));
}

TEST(Hardware, StandsInFrontOfTheFindings) {
  Report report = example();
  report.gpus[0].ecc_uncorrected = 2;
  for (const std::string format : {"terminal", "md", "html"}) {
    const std::string text = show(report, {}, format);
    EXPECT_LT(text.find("HARDWARE:"), text.find("FAIL", text.find("planned"))) << text;
  }
}

TEST(Html, HasModelAndDriverInItsHeaderAndFindingsInFrontOfTheMap) {
  const std::string page = show(example(), {}, "html");
  const std::size_t header = page.find("2 x NVIDIA H200, driver 580.105.08");
  ASSERT_NE(header, std::string::npos);
  EXPECT_LT(header, page.find("</header>"));
  EXPECT_LT(page.find("id=\"findings\""), page.find("id=\"map\""));
}

TEST(TimeTaken, NamesTheSlowestGpu) {
  Report report = example();
  report.launch.created_unix_s = 1000;
  for (ResultRow& result : report.results) {
    result.start_unix_s = 1010;
    result.seconds = result.gpu_id == 1 ? 9 : 2;
  }
  const std::string line = time_line(report);
  EXPECT_TRUE(line.starts_with("took 19 s; slowest: GPU 1 (")) << line;
  EXPECT_TRUE(line.ends_with("), 27 s (median 16.5 s)")) << line;
}

TEST(TimeTaken, HasMinutesAndHours) {
  Report report = example();
  report.launch.created_unix_s = 1000;
  for (ResultRow& result : report.results) {
    result.gpu_id = 0;
    result.start_unix_s = 1000 + 7260;
    result.seconds = 60;
  }
  EXPECT_EQ(time_line(report), "took 2 h 2 min");
  for (ResultRow& result : report.results) result.start_unix_s = 1140;
  EXPECT_EQ(time_line(report), "took 3 min");
}

TEST(TimeTaken, IsNotSaidWhereNothingRan) {
  Report report = example();
  for (ResultRow& result : report.results) result.seconds = 0;
  EXPECT_EQ(time_line(report), "");
}

TEST(Observations, TakeOneLineUnlessAskedFor) {
  Report report = example();
  report.results[0].notes = text_in(report, "padded 7 to 8\npadded 9 to 16");
  const std::string text = show(report, {});
  EXPECT_TRUE(has(text, "\n2 observations recorded, none judged (--notes lists them)\n")) << text;
  EXPECT_FALSE(has(text, "note:"));
  EXPECT_TRUE(has(show(report, {.notes = true}), "\nnote: padded 7 to 8"));
}

}  // namespace

}  // namespace tidemark
