// One document in each format that people read.
#include "reports/render/show.hpp"
#include "reports/testing/said.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

/// A verdict and one section.
Document with(std::vector<Block> blocks) {
  Document made{.verb = "show",
                .title = "tidemark report",
                .word = "FAIL",
                .tone = Tone::bad,
                .scope = "1 case x 1 GPU"};
  made.sections.push_back({.id = "one", .heading = "One", .blocks = std::move(blocks)});
  return made;
}

const Finding kFinding = {.tone = Tone::bad,
                          .heading = "FAIL",
                          .names = {"load.tile"},
                          .text = {"on ", std::string("GPU 0 *a*")},
                          .why = {{std::string("wrong bytes")}},
                          .commands = {{"replay", "tidemark run --row 3"}}};

TEST(Rendered, AFindingSaysWhatWhereWhyAndHowToRunItOnATerminal) {
  EXPECT_EQ(terminal_of(with({kFinding}), {}),
            "RESULT: FAIL  1 case x 1 GPU\n\nFAIL load.tile  on GPU 0 *a*\n     wrong bytes\n"
            "     replay: tidemark run --row 3\n");
}

TEST(Rendered, AFindingSaysWhatWhereWhyAndHowToRunItInMarkdown) {
  EXPECT_EQ(markdown_of(with({kFinding})),
            "## tidemark: FAIL\n\n1 case x 1 GPU\n\n### One\n\n"
            "**FAIL** `load.tile` on `GPU 0 *a*`<br>\n`wrong bytes`\n\n"
            "```sh\ntidemark run --row 3\n```\n\n");
}

TEST(Rendered, AFindingSaysWhatWhereWhyAndHowToRunItOnAPage) {
  EXPECT_TRUE(has(html_of(with({kFinding})),
                  "<div class=\"finding\"><h3><span class=\"badge bad\">FAIL</span> "
                  "<span><code>load.tile</code></span> <span class=\"muted\">on GPU 0 "
                  "*a*</span></h3>\n<p>wrong bytes</p>\n"
                  "<pre class=\"command\">tidemark run --row 3</pre>\n</div>\n"));
}

TEST(Rendered, OfASentenceOnlyTheStringsOfAReportAreEscapedInMarkdown) {
  const std::string text = markdown_of(with({Line{.text = {"a *b* ", std::string("c *d*")}}}));
  EXPECT_TRUE(has(text, "- a *b* `c *d*`\n")) << text;
}

TEST(Rendered, ALineKeepsItsHeadingApartInMarkdown) {
  const std::string text =
      markdown_of(with({Line{.text = {std::string("SLOWER a/rate")}, .heading = 6}}));
  EXPECT_TRUE(has(text, "- **SLOWER** `a/rate`\n")) << text;
}

TEST(Rendered, WhatWasLeftOutNamesTheCommandThatShowsIt) {
  const Document made = with({LeftOut{17, "finding"}});
  EXPECT_TRUE(has(terminal_of(made, {}), "\n... and 17 more findings: --all shows all\n"));
  EXPECT_TRUE(has(html_of(made), "17 more findings: <code>tidemark show --html --all</code>"));
}

TEST(Rendered, ASectionOfMarkdownTakesNoRoomFromTheNext) {
  Document made = with(std::vector<Block>(1000, kFinding));
  made.sections.push_back({.id = "two", .heading = "Two", .blocks = {Line{.text = {"here"}}}});
  const std::string text = markdown_of(made);
  EXPECT_LT(text.size(), 5000U);
  EXPECT_TRUE(has(text, "### Two\n\n- here\n"));
  EXPECT_TRUE(has(text, "blocks found no room here; `tidemark show --all`"));
}

TEST(Rendered, ATableHasItsNumbersToTheRight) {
  const TextTable table{.id = "t",
                        .label = "t",
                        .columns = headings({"case", ">GPUs"}),
                        .rows = {{code_cell("a"), count_cell(1024)}}};
  EXPECT_TRUE(has(terminal_of(with({table}), {}), "  case   GPUs\n  a     1,024\n"));
  EXPECT_TRUE(has(markdown_of(with({table})), "| case | GPUs |\n|---|--:|\n| `a` | 1,024 |\n"));
  EXPECT_TRUE(has(html_of(with({table})),
                  "<td><code>a</code></td><td class=\"number\" data-order=\"1024\">1,024</td>"));
}

}  // namespace
}  // namespace tidemark
