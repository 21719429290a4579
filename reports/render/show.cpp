// Reports, comparisons and histories in every format.
#include "reports/render/show.hpp"

#include <fmt/format.h>
#include <array>
#include <cmath>

#include "reports/base/words.hpp"
#include "reports/document/report/document.hpp"

namespace tidemark::reports {

// Writes JUnit XML as Jenkins, GitLab and junitparser read it.

namespace {

struct Counts {
  std::array<std::size_t, 4> by_outcome{};
  std::size_t tests = 0;
  double seconds = 0;

  std::size_t of(TestOutcome outcome) const {
    return by_outcome[static_cast<std::size_t>(outcome)];
  }
};

double seconds_of(const TestCase& one) { return one.seconds > 0 ? one.seconds : 0; }

void add(Counts& counts, const TestCase& one) {
  ++counts.by_outcome[static_cast<std::size_t>(one.outcome)];
  ++counts.tests;
  counts.seconds += seconds_of(one);
}

/// Of a suite, or of all: Jenkins' schema, junit-10.xsd, has `skipped` for a suite alone.
std::string attributes_of(const Counts& counts, bool of_all = false) {
  const std::string skipped =
      of_all ? "" : fmt::format(R"(skipped="{}" )", counts.of(TestOutcome::skipped));
  return fmt::format(R"(tests="{}" failures="{}" errors="{}" {}time="{:.6f}")", counts.tests,
                     counts.of(TestOutcome::failed), counts.of(TestOutcome::error), skipped,
                     counts.seconds);
}

/// Line breaks stay, all else as in a line.
std::string lines_of(const std::string& text) {
  std::string made;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (at > 0) made += '\n';
    made += for_html(std::string_view(text).substr(at, end - at));
    at = end + 1;
  }
  return made;
}

std::string xml_of(const TestCase& one) {
  const std::string head =
      fmt::format(R"(    <testcase classname="{}" name="{}" time="{:.6f}")",
                  for_html(one.class_name), for_html(one.name), seconds_of(one));
  switch (one.outcome) {
    case TestOutcome::passed:
      return head + "/>\n";
    case TestOutcome::skipped:
      return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", head,
                         for_html(one.message));
    case TestOutcome::failed:
    case TestOutcome::error:
      break;
  }
  const char* const element = one.outcome == TestOutcome::failed ? "failure" : "error";
  return fmt::format("{}>\n      <{} type=\"{}\" message=\"{}\">{}</{}>\n    </testcase>\n", head,
                     element, for_html(one.type), for_html(one.message), lines_of(one.text),
                     element);
}

std::string xml_of(const TestSuite& suite, std::size_t id) {
  Counts counts;
  for (const TestCase& one : suite.cases) add(counts, one);
  std::string made =
      fmt::format("  <testsuite id=\"{}\" name=\"{}\" hostname=\"{}\" timestamp=\"{}\" {}>\n", id,
                  for_html(suite.name), for_html(suite.hostname), for_html(suite.timestamp),
                  attributes_of(counts));
  if (!suite.properties.empty()) {
    made += "    <properties>\n";
    for (const auto& [name, value] : suite.properties) {
      made += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", for_html(name),
                          for_html(value));
    }
    made += "    </properties>\n";
  }
  for (const TestCase& one : suite.cases) made += xml_of(one);
  return made + "  </testsuite>\n";
}

}  // namespace

std::string junit_of(const std::string& name, const std::vector<TestSuite>& suites) {
  Counts all;
  for (const TestSuite& suite : suites) {
    for (const TestCase& one : suite.cases) add(all, one);
  }
  std::string made = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  made += fmt::format("<testsuites name=\"{}\" {}>\n", for_html(name), attributes_of(all, true));
  for (std::size_t i = 0; i < suites.size(); ++i) made += xml_of(suites[i], i);
  return made + "</testsuites>\n";
}

std::string show(const Report& report, const ShowOptions& options) {
  if (options.format == Format::json) return json_of(report);
  if (options.format == Format::csv) return csv_of(report);
  if (options.format == Format::junit) return junit_of("tidemark", tests_of(report, options));
  return rendered(document_of(report, options), options);
}

std::string show_metrics(const Report& report, const ShowOptions& options) {
  const std::string text = terminal_of(measured_section(report, options).blocks, options);
  return text.empty() ? "" : "\n" + text;
}

std::string show_comparison(const Comparison& comparison, const ShowOptions& options) {
  if (options.format == Format::json) return comparison_json(comparison);
  if (options.format == Format::csv) return comparison_csv(comparison);
  if (options.format == Format::junit) {
    return junit_of("tidemark compare", tests_of(comparison, options.fail_on));
  }
  return rendered(document_of(comparison, options), options);
}

std::string explain_case(const Comparison& comparison, std::string_view name,
                         std::uint32_t columns) {
  return terminal_of(explanation_of(comparison, name), {.columns = columns});
}

std::string show_history(const History& history, const ShowOptions& options) {
  if (options.format == Format::json) return history_json(history, options);
  if (options.format == Format::csv) return history_csv(history);
  if (options.format == Format::junit)
    return junit_of("tidemark history", tests_of(history, options));
  return rendered(document_of(history, options), options);
}

}  // namespace tidemark::reports
