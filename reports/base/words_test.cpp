// Numbers, moments, names and text as people read them, and as each format takes them.
#include "reports/base/words.hpp"
#include "reports/testing/said.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

TEST(Escape, HtmlHasNoMarkupQuotesOrControlBytes) {
  EXPECT_EQ(for_html("a<b>&\"'\x1b\n\xc3]]>"), "a&lt;b&gt;&amp;&quot;&#39;???]]&gt;");
}

TEST(Escape, MarkdownStandsInACodeSpanThatItsTextCannotEnd) {
  EXPECT_EQ(for_markdown("a*b"), "`a*b`");
  EXPECT_EQ(for_markdown("a`b``c"), "```a`b``c```");
  EXPECT_EQ(for_markdown("`a"), "`` `a ``");
  EXPECT_EQ(for_markdown("a\n# b"), "`a?# b`");
  EXPECT_EQ(for_markdown(""), "");
}

TEST(Escape, MarkdownHasNoBarThatEndsATableCell) {
  EXPECT_EQ(for_markdown("a\\|b"),
            "`a\\\xc2\xa6"
            "b`");
}

TEST(Escape, MarkdownIsCutWhereItIsTooLong) { EXPECT_EQ(for_markdown("abcdef", 3), "`abc...`"); }

TEST(Escape, ACommandIsFencedAndWholeOrNotThere) {
  EXPECT_EQ(fenced_command("tidemark run"), "```sh\ntidemark run\n```\n");
  EXPECT_EQ(fenced_command("a\n```\n"), "````sh\na?```?\n````\n");
  EXPECT_FALSE(has(fenced_command("rm -rf /tmp/x", 6), "rm"));
}

TEST(Escape, CsvQuotesWhatWouldEndAField) {
  EXPECT_EQ(for_csv("plain"), "plain");
  EXPECT_EQ(for_csv("a,b"), "\"a,b\"");
  EXPECT_EQ(for_csv("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(for_csv("a\r\nb"), "a??b");
}

TEST(Escape, CsvHoldsNoFormula) {
  EXPECT_EQ(for_csv("=1+1"), "\"'=1+1\"");
  EXPECT_EQ(for_csv("+1"), "\"'+1\"");
  EXPECT_EQ(for_csv("-1"), "\"'-1\"");
  EXPECT_EQ(for_csv("@SUM(A1)"), "\"'@SUM(A1)\"");
  EXPECT_EQ(for_csv("  =1"), "\"'  =1\"");
}

}  // namespace

}  // namespace tidemark
