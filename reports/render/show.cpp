// Reports, comparisons and histories in every format.
#include "reports/render/show.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <stdexcept>

#include "reports/base/words.hpp"

namespace tidemark {

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
  if (one.outcome == TestOutcome::passed) return head + "/>\n";
  if (one.outcome == TestOutcome::skipped)
    return fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n", head,
                       for_html(one.message));
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

/// For the CI systems that read it. Text is escaped here and may hold anything.
std::string junit_of(const Views& views, const ShowOptions&) {
  const std::vector<TestSuite> suites = views.tests();
  Counts all;
  for (const TestSuite& suite : suites) {
    for (const TestCase& one : suite.cases) add(all, one);
  }
  std::string made = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  made +=
      fmt::format("<testsuites name=\"{}\" {}>\n", for_html(views.name), attributes_of(all, true));
  for (std::size_t i = 0; i < suites.size(); ++i) made += xml_of(suites[i], i);
  return made + "</testsuites>\n";
}

// Names of reports are bytes: what is no UTF-8 must not be an exception. Escaped to ASCII, so that
// JSON shown on a terminal cannot drive it.
std::string json_of(const Views& views, const ShowOptions&) {
  constexpr auto kReplace = OrderedJson::error_handler_t::replace;
  return views.json().dump(views.json_indent, ' ', true, kReplace) + "\n";
}

std::string csv_of(const Views& views, const ShowOptions&) { return views.sheet().csv(); }

template <std::string (*of)(const Document&, const ShowOptions&)>
std::string for_people(const Views& views, const ShowOptions& options) {
  return of(views.document(), options);
}

}  // namespace

std::span<const Format> formats() {
  static constexpr Format kFormats[] = {
      {kTerminal, "", for_people<terminal_of>},
      {"json", "As JSON", json_of},
      {"md", "As Markdown of less than 60 kB, for a comment", for_people<markdown_of>},
      {"csv", "As CSV", csv_of},
      {"junit", "As JUnit XML", junit_of},
      {"html", "As one HTML page that needs nothing else", for_people<html_of>}};
  return kFormats;
}

std::string written(const Views& views, const ShowOptions& options, std::string_view format) {
  const auto at = std::ranges::find(formats(), format, &Format::name);
  if (at == formats().end()) throw std::logic_error(fmt::format("no format {}", format));
  return at->write(views, options);
}

std::string show_metrics(const Report& report, const ShowOptions& options) {
  const std::string text = terminal_of(measured_section(report, options).blocks, options);
  return text.empty() ? "" : "\n" + text;
}

std::string explain_case(const Comparison& comparison, std::string_view name,
                         std::uint32_t columns) {
  return terminal_of(explanation_of(comparison, name), {.columns = columns});
}

}  // namespace tidemark
