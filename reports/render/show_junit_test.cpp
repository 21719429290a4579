// JUnit XML of a report, as readers that are not ours take it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "reports/base/scratch_folder.hpp"
#include "reports/journal/record.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/foreign_reader.hpp"
#include "reports/testing/hostile_report.hpp"
#include "reports/testing/said.hpp"
#include "reports/testing/slowed_report.hpp"

namespace tidemark {
namespace {

std::string junit(const Report& report) { return show(report, {}, "junit"); }

/// What a Python program that takes the file's path as argument says of a document.
std::string said_of(const std::string& document, const std::string& python,
                    const std::string& program) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("junit.xml")) << document;
  std::ofstream(scratch.file("read.py")) << program;
  return output_of(
      fmt::format("{} {} {} 2>&1", python, scratch.file("read.py"), scratch.file("junit.xml")));
}

TEST(ShowJunit, WhatWasSlowedOnPurposeIsATestThatIsNoPass) {
  EXPECT_TRUE(has(junit(slowed_report()),
                  "<testcase classname=\"tidemark.launch\" name=\"nothing was slowed on purpose\" "
                  "time=\"0.000000\">\n      <skipped message=\"SLOWED ON PURPOSE: "
                  "gemm.distributed.speed by 3%\"/>"));
  EXPECT_FALSE(has(junit(example()), "slowed"));
}

TEST(ShowJunit, WhatWasLeftOutIsATestThatIsNoPass) {
  Report report = example();
  report.strings.insert(report.strings.end(),
                        {std::string(kLeftOut), "rank 1 on host node08 has no NVIDIA device"});
  const auto last = static_cast<std::uint32_t>(report.strings.size() - 1);
  report.events.push_back({.gpu_id = kNoRow, .source = last - 1, .text = last});
  EXPECT_TRUE(has(junit(report),
                  "<testcase classname=\"tidemark.launch\" name=\"every GPU takes part\" "
                  "time=\"0.000000\">\n      <skipped message=\"left out: rank 1 on host node08 "
                  "has no NVIDIA device\"/>"))
      << junit(report);
}

TEST(ShowJunit, WhatDidNotRunIsAnErrorAndNoPass) {
  const std::string text = junit(assemble(std::vector<std::string>{example_journals()[0]}, {}));
  EXPECT_TRUE(has(text, "tests=\"7\" failures=\"0\" errors=\"4\" time=")) << text;
  EXPECT_TRUE(has(text, "<testsuite id=\"2\" name=\"GPUs that never reported\"")) << text;
  EXPECT_TRUE(has(text, "<error type=\"not_run\" message=\"not_run: no rank reported GPU 1\">"));
  EXPECT_TRUE(has(text, "<error type=\"incomplete\" message=\"rank 1 silent: no journal\">"));
}

TEST(ShowJunit, AVirtualRunIsSkippedAltogether) {
  Report report = example();
  report.launch.is_virtual = true;
  const std::string text = junit(report);
  EXPECT_TRUE(has(text, "tests=\"4\" failures=\"0\" errors=\"0\" time=")) << text;
  EXPECT_TRUE(has(text, "tests=\"3\" failures=\"0\" errors=\"0\" skipped=\"3\"")) << text;
  EXPECT_FALSE(has(text, "\"/>\n    <testcase"));
  EXPECT_TRUE(has(text,
                  "<skipped message=\"VIRTUAL device, nothing was measured on a GPU; there: "
                  "fail: 1 of 12 rows moved wrong bytes\"/>"));
}

TEST(ShowJunit, TheWorstResultOfANodeIsItsVerdict) {
  Report report = example();
  report.results[0].verdict = Verdict::skip;  // load.tile.2d on GPU 0; a pass on GPU 1
  report.results[2].verdict = Verdict::hang;  // zfill.corner on GPU 0; a fail on GPU 1
  const std::string text = junit(report);
  EXPECT_TRUE(has(text, "name=\"load.tile.2d\" time=\"1.000000\">\n      <skipped")) << text;
  EXPECT_TRUE(has(text, "<failure type=\"fail\"")) << text;
  EXPECT_TRUE(has(text, "\nhang on GPU 0 (")) << text;
}

TEST(ShowJunit, IsTakenByJunitparser) {
  const std::string python = interpreter_with("junitparser");
  if (python.empty()) GTEST_SKIP() << "no python3 with junitparser: a real reader was not tried";
  EXPECT_EQ(said_of(junit(example()), python, R"(
import sys
from junitparser import JUnitXml
xml = JUnitXml.fromfile(sys.argv[1])
print(xml.tests, xml.failures, xml.errors, xml.skipped, xml.time)
for suite in xml:
    print(suite.name, suite.hostname, suite.timestamp, [p.name for p in suite.properties()])
    for case in suite:
        print(" ", case.classname, case.name, case.time, [(r.type, r.message) for r in case.result])
)"),
            "4 1 0 0 3.0\n"
            "tidemark launch  2026-09-01T00:00:00 ['run_id', 'tidemark', 'level', 'device', "
            "'seed', 'ranks']\n"
            "  tidemark.launch report is complete 0.0 []\n"
            "node07.acme.example node07.acme.example 2026-09-01T00:00:00 []\n"
            "  node07.acme.example load.tile.2d 1.0 []\n"
            "  node07.acme.example zfill.corner 1.0 [('fail', 'fail: 1 of 12 rows moved wrong "
            "bytes')]\n"
            "  node07.acme.example gemm.distributed.speed 1.0 []\n");
}

TEST(ShowJunit, NothingHostileBecomesAnElement) {
  const std::string python = interpreter_with("xml.etree.ElementTree");
  if (python.empty()) GTEST_SKIP() << "no python3: an XML reader was not tried";
  EXPECT_EQ(said_of(junit(hostile_report()), python, R"(
import sys
import xml.etree.ElementTree as tree
root = tree.parse(sys.argv[1]).getroot()
print(sorted({element.tag for element in root.iter()}))
print(sorted({name for element in root.iter() for name in element.attrib}))
texts = [t for element in root.iter() for t in [element.text or "", *element.attrib.values()]]
print(any("<script>" in text for text in texts))
print(all(c == "\n" or " " <= c <= "~" for text in texts for c in text))
)"),
            "['error', 'failure', 'properties', 'property', 'testcase', 'testsuite', "
            "'testsuites']\n"
            "['classname', 'errors', 'failures', 'hostname', 'id', 'message', 'name', 'skipped', "
            "'tests', 'time', 'timestamp', 'type', 'value']\n"
            "True\nTrue\n");
}

}  // namespace
}  // namespace tidemark
