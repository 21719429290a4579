// The HTML page of a report: what it holds, and what Chromium makes of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "reports/render/show.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/hostile_report.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/seen_in_chromium.hpp"

namespace tidemark {
namespace {

using Json = nlohmann::json;

std::string html(const Report& report, bool all = false) {
  return show(report, {.all = all}, "html");
}

/// Twelve cases, of which each took longer than the one before, on two GPUs.
Report twelve_cases() {
  std::vector<std::string> journals;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    LaunchRecord launch = example_launch(rank);
    launch.cases.assign(12, launch.cases[0]);
    std::vector<Record> records = {launch, example_node(rank), example_gpu(rank)};
    for (std::size_t i = 0; i < launch.cases.size(); ++i) {
      launch.cases[i].name = fmt::format("load.case{}", i);
      OutcomeRecord outcome = example_outcome(rank, launch.cases[i].name);
      outcome.seconds = 4.0 * static_cast<double>(i + 1);  // as text, 12 comes before 4
      records.emplace_back(outcome);
    }
    records[0] = launch;
    records.emplace_back(example_end(rank));
    journals.push_back(journal_of(records));
  }
  return assemble(journals, {});
}

TEST(ShowHtml, HoldsVerdictFindingReplayMapPlotAndOrigin) {
  const std::string text = html(example());
  for (const char* part :
       {"<span class=\"badge bad\">FAIL</span> tidemark report</h1>",
        "3 cases x 2 GPUs: 5 pass, 1 fail (6 planned)",
        "<pre class=\"command\">tidemark run --cases zfill.corner --seed 0xfedcba9876543210 --gpus "
        "GPU-77aa88bb-0000-1111-2222-333344445555</pre>",
        "<title>zfill.corner on node07.acme.exampl GPU 1: fail</title>",
        "aria-label=\"gemm.distributed.speed rate\"",
        "GPU 1 (node07.acme.example, slot 1, GPU-77aa88bb): median 691 TFLOP/s (mad 1, n 3)",
        "<dt>level</dt><dd>quick  seed 0xfedcba9876543210  device cuda"}) {
    EXPECT_TRUE(has(text, part)) << part;
  }
}

TEST(ShowHtml, AFailureSaysHowToRunItsRowAlone) {
  const auto replayed_by = [](std::uint32_t result) {
    return fmt::format("tidemark replay a.h5 --result {}", result);
  };
  const std::string text = show(example(), {.replayed_by = replayed_by}, "html");
  EXPECT_TRUE(has(text,
                  "<p class=\"muted\">program:</p><pre class=\"command\">tidemark replay a.h5 "
                  "--result 3</pre>"))
      << text;
}

TEST(ShowHtml, HasAMapOfTheSmsOfEachGpu) {
  const std::string text = html(example());
  EXPECT_TRUE(has(text, "<p>SMs: 2 of 132 visited on each of 2 GPUs</p>"));
  EXPECT_TRUE(has(text, "SM 2: 1 of 8 rows failed</li>"));
  EXPECT_TRUE(has(text, "<figcaption>GPU 1 (node07.acme.example, slot 1, GPU-77aa88bb)"));
  EXPECT_TRUE(has(text, "<title>SM 2: 0 of 8 rows failed, 51.5 GB/s from L2</title>"));
  EXPECT_TRUE(has(text, "<title>SM 2: 1 of 8 rows failed, 51.5 GB/s from L2</title>"));
  EXPECT_TRUE(has(text, "<title>SM 131: never visited</title>"));
}

TEST(ShowHtml, ANumberThatNoSmHasIsNoSmThatWasNeverVisited) {
  Report report = example();
  report.gpus[1].sm_count = 2;  // the SMs 0 and 2 were visited
  std::string text = html(report);
  EXPECT_TRUE(has(text, "<title>no SM has the number 1</title>"));
  report.gpus[1].sm_count = 0;
  text = html(report);
  EXPECT_TRUE(has(text, "<title>SM 1: never visited, if an SM has this number</title>"));
}

TEST(ShowHtml, AnSmIsTheRedderTheMoreOfItsRowsFailed) {
  Report report = example();
  report.sms[3].rows_run = 1000;
  EXPECT_TRUE(has(html(report),
                  "class=\"cell-bad\" x=\"82.2\" y=\"30.1\" width=\"14\" height=\"14\" "
                  "fill-opacity=\"0.30\""));
  report.sms[3].rows_failed = 1000;
  EXPECT_TRUE(has(html(report),
                  "<rect class=\"cell-bad\" x=\"82.2\" y=\"30.1\" width=\"14\" "
                  "height=\"14\"><title>SM 2: 1,000 of 1,000 rows failed"));
}

TEST(ShowHtml, HasNoMapOfSmsWhereNoneIsKnown) {
  Report report = example();
  report.sms.clear();
  EXPECT_FALSE(has(html(report), "id=\"sms\""));
}

TEST(ShowHtml, SaysVirtualAtTheTopAndBesideTheNumbers) {
  Report report = example();
  EXPECT_FALSE(has(html(report), "VIRTUAL"));
  report.launch.is_virtual = true;
  EXPECT_TRUE(has(html(report), "tidemark report (VIRTUAL)</h1>"));
  EXPECT_TRUE(has(html(report), "VIRTUAL: the numbers below are of a model on a CPU"));
}

TEST(ShowHtml, ANumberOfACaseThatDidNotPassIsAHollowDot) {
  Report report = example();
  EXPECT_FALSE(has(html(report), "class=\"dot void\""));
  report.results[5].verdict = Verdict::fail;
  EXPECT_TRUE(has(html(report), "class=\"dot void\""));
  EXPECT_TRUE(has(html(report), "not a pass: does not count"));
}

TEST(ShowHtml, NamesNothingOutsideOfItself) { expect_nothing_outside(html(example())); }

TEST(ShowHtml, IsCappedUnlessAllIsAskedFor) {
  Report report = example();
  const ResultRow failure = report.results[3];
  for (int i = 0; i < 400; ++i) {
    report.strings.push_back(fmt::format("reason {}", i));
    report.results.push_back(failure);
    report.results.back().reason = static_cast<std::uint32_t>(report.strings.size() - 1);
  }
  EXPECT_TRUE(has(html(report), "... and 101 more findings"));
  EXPECT_FALSE(has(html(report), "<p>reason 399</p>"));
  EXPECT_TRUE(has(html(report, true), "<p>reason 399</p>"));
}

TEST(ShowHtmlInChromium, TablesAreSortedByNumberOnAClickAndBackOnAnother) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  const std::string cases =
      "[...document.querySelectorAll(\"#every-case tbody tr\")].map(r => r.cells[1].textContent)";
  const std::string click =
      "const b = [...document.querySelectorAll(\"#every-case th button\")].find(b => "
      "b.textContent === \"longest s\"); b.click(); b.parentElement.getAttribute(\"aria-sort\")";
  const auto said = seen(html(twelve_cases()), {"{" + click + "}", cases + "[11]",
                                                "{" + click + "}", cases + "[0]", cases + "[1]"});
  EXPECT_EQ(said[0], "ascending");
  EXPECT_EQ(said[1], "load.case11");
  EXPECT_EQ(said[2], "descending");
  EXPECT_EQ(said[3], "load.case11");
  EXPECT_EQ(said[4], "load.case10");
}

TEST(ShowHtmlInChromium, AFilterLeavesTheRowsThatHoldAllItsWords) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  const auto said =
      seen(html(twelve_cases()),
           {"const field = document.querySelector(\"#cases input\"); field.value = \"CASE1 pass\"; "
            "field.dispatchEvent(new Event(\"input\")); field.nextSibling.textContent",
            "[...document.querySelectorAll(\"#every-case tbody tr\")].filter(r => "
            "r.offsetHeight > 0).map(r => r.cells[1].textContent).join()"});
  EXPECT_EQ(said[0], "3 of 12");
  EXPECT_EQ(said[1], "load.case1,load.case10,load.case11");
}

TEST(ShowHtmlInChromium, WithoutItsScriptThePageStillShowsEverything) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  std::string page = html(twelve_cases());
  page.erase(page.find("<script>"));  // also what a browser without JavaScript leaves of it
  const auto said = seen(page, {"document.querySelectorAll(\"button, input\").length",
                                "[...document.querySelectorAll(\"#every-case tbody tr\")].filter(r "
                                "=> r.offsetHeight > 0).length"});
  EXPECT_EQ(said[0], 0);
  EXPECT_EQ(said[1], 12);
}

TEST(ShowHtmlInChromium, NothingIsFetchedAndNothingComplained) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  const auto said = seen(html(twelve_cases()), {"document.title"});
  ASSERT_EQ(said.back()["requests"].size(), 1U) << said.back();
  EXPECT_TRUE(said.back()["requests"][0].get<std::string>().starts_with("file:///"));
  EXPECT_EQ(said.back()["messages"], Json::array());
}

TEST(ShowHtmlInChromium, ThePolicyForbidsWhatTheEscapesDoNot) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  std::string page = html(twelve_cases());
  page.insert(page.find("<header>"),
              "<script>document.title = \"owned\"</script><p id=\"p\" style=\"color: #ff0000\">"
              "<img src=\"x.png\" onerror=\"document.title = `owned`\"></p>");
  const auto said =
      seen(page, {"document.title", "getComputedStyle(p).color !== \"rgb(255, 0, 0)\"",
                  "document.querySelectorAll(\"th button\").length > 0"});
  EXPECT_EQ(said[0], "tidemark PASS: 2026-09-01T00:00:00Z");
  EXPECT_EQ(said[1], true);
  EXPECT_EQ(said[2], true);  // the page's own script ran
  EXPECT_TRUE(has(said.back()["messages"].dump(), "Content Security Policy")) << said.back();
}

TEST(ShowHtmlInChromium, NothingHostileBecomesMarkup) {
  if (browser().empty()) GTEST_SKIP() << kNoBrowser;
  const std::string page = html(hostile_report());
  expect_harmless(page, "tidemark FAIL: ");
  const std::string tags =
      "[...new Set([...document.querySelectorAll(\"*\")].map(e => e.localName))].sort().join()";
  EXPECT_EQ(seen(page, {tags})[0],
            "a,body,button,circle,code,dd,details,div,dl,dt,figcaption,figure,h1,h2,h3,head,"
            "header,html,"
            "li,meta,nav,p,path,rect,script,section,span,style,summary,svg,table,tbody,td,"
            "text,th,thead,title,tr,ul");
}

}  // namespace
}  // namespace tidemark
