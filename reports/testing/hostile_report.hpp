// A report every text of which tries to be more than text, for the tests of what renders it.
#pragma once

#include <string>

#include "reports/store/report.hpp"
#include "reports/testing/example_launch.hpp"

namespace tidemark {

/// Markup of HTML, XML and Markdown, ends of attributes, comments, CDATA, code spans and table
/// cells, terminal escapes, control characters, half of a UTF-8 character, and links.
inline const std::string kHostileText =
    "\"'></title></style></script><script>document.title='owned'</script>"
    "<img src=http://evil.example/a onerror=\"document.title='owned'\"> ]]> --> &lt; &#60; \\| | "
    "` `` ``` [click](http://evil.example) ![x](http://evil.example/b) http://evil.example/c @team "
    "\x1b]0;owned\x07\x1b[31m\r\n\x01\x7f\xff\xc3 {{x}} ${x} <svg "
    "onload=\"document.title='owned'\">";

/// The example launch: passes, a failure with a miscompare, metrics, a note and an event, each text
/// with `evil` in front (so that it stands where formulas do) and behind.
inline Report hostile_report(const std::string& evil = kHostileText) {
  std::vector<std::string> journals = example_journals();
  OutcomeRecord noted = example_outcome(1, "load.tile.2d");
  noted.notes = {"a note"};
  journals[1] = journal_of(
      {example_launch(1), example_node(1), example_gpu(1), noted,
       example_failure(1, "zfill.corner"), example_speed(1, 690),
       EventRecord{.at_unix_s = 1788220805, .gpu = 1, .source = "nvml", .code = 79, .text = "lost"},
       example_end(1)});
  Report report = assemble(journals, {.incomplete_reason = "gone"});
  for (std::size_t i = 1; i < report.strings.size(); ++i) {
    // Keys of provenance are looked for by how they begin.
    const bool key =
        report.strings[i].starts_with("argument.") || report.strings[i].starts_with("environment.");
    report.strings[i] = (key ? "" : evil) + report.strings[i] + evil;
  }
  for (std::string* text :
       {&report.launch.run_id, &report.launch.created_utc, &report.launch.level,
        &report.launch.device, &report.launch.tool_version, &report.launch.incomplete_reason}) {
    *text = evil + *text + evil;
  }
  const std::string name = evil.substr(0, 100), uuid = evil.substr(0, 48);
  report.cases[1].name = FixedText<128>::of(name);
  report.gpus[1].uuid = FixedText<48>::of(uuid);
  return report;
}

}  // namespace tidemark
