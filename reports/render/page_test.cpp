// Lines for a terminal.
#include "reports/render/page.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tidemark {
namespace {

TEST(Page, ANumberKeepsItsPercentAndItsSign) {
  Page page{.text = {}, .colour = false, .columns = 40};
  put(page, std::string(36, 'x') + " 1.5 % +- 0.86 % y");
  EXPECT_EQ(page.text, std::string(36, 'x') + "\n1.5 % +- 0.86 % y\n");
  page.text.clear();
  put(page, std::string(31, 'x') + " 1.5 % +- 0.86 % y");
  EXPECT_EQ(page.text, std::string(31, 'x') + " 1.5 %\n+- 0.86 % y\n");
}

TEST(Page, WhatCouldDriveATerminalBecomesAQuestionMark) {
  EXPECT_EQ(printable("a\x1b[31mb\x07\n\x7f\xc2\x9b\xff~"), "a?[31mb??????~");
}

TEST(Page, UtfEightStaysWhereItIsSeen) {
  const std::string seen = "caf\xc3\xa9 \xe5\xa4\x9c \xf0\x9f\x94\xa5";
  EXPECT_EQ(printable(seen), seen);
}

TEST(Page, WhatIsNoUtfEightOrNotSeenBecomesQuestionMarks) {
  EXPECT_EQ(printable("\xc3"), "?");                 // cut
  EXPECT_EQ(printable("\xc0\xaf"), "??");            // longer than it need be
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // beyond all characters
  EXPECT_EQ(printable("a\xe2\x80\xae"
                      "b"),
            "a???b");                           // from right to left
  EXPECT_EQ(printable("\xe2\x80\xa8"), "???");  // a line's end
}

TEST(Page, LinesBreakAtSpacesAndAreIndented) {
  Page page;
  put(page, std::string(60, 'a') + " " + std::string(60, 'b'), 4);
  EXPECT_EQ(page.text, std::string(60, 'a') + "\n    " + std::string(60, 'b') + "\n");
}

TEST(Page, AWordTooLongForALineStaysWholeToBeCopied) {
  Page page;
  put(page, "b " + std::string(150, 'a') + " c", 4);
  EXPECT_EQ(page.text, "b\n    " + std::string(150, 'a') + "\n    c\n");
}

TEST(Page, ALineIsNotBrokenWithinBraces) {
  Page page;
  const std::string descriptor = "{\"box\": [" + std::string(60, '1') + ", {\"a\": 2}, " +
                                 std::string(60, '3') + "], \"b\": 4}";
  put(page, "row 3 " + descriptor + ": byte", 4);
  EXPECT_EQ(page.text, "row 3\n    " + descriptor + ":\n    byte\n");
}

TEST(Page, LinesBreakWhereTheTerminalEnds) {
  Page narrow{.text = {}, .columns = 60}, silly{.text = {}, .columns = 0};
  const std::string text = std::string(35, 'a') + " " + std::string(35, 'b');
  put(narrow, text);
  EXPECT_EQ(narrow.text, std::string(35, 'a') + "\n" + std::string(35, 'b') + "\n");
  put(silly, "a b");
  EXPECT_EQ(silly.text, "a b\n");
  Page command{.text = {}, .columns = 60};
  put_command(command, "", text, 0);
  EXPECT_EQ(command.text, std::string(35, 'a') + " \\\n  " + std::string(35, 'b') + "\n");
}

TEST(Page, ABraceThatNeverClosesHoldsNothingTogether) {
  Page page;
  put(page, "} { " + std::string(60, 'a') + " " + std::string(60, 'b'), 4);
  EXPECT_EQ(page.text, "} { " + std::string(60, 'a') + "\n    " + std::string(60, 'b') + "\n");
}

TEST(Page, ALineOfExactlyAPageIsNotBroken) {
  Page page;
  put(page, std::string(50, 'a') + " " + std::string(49, 'b'));
  EXPECT_EQ(page.text.size(), 101U);
}

TEST(Page, ColourIsOnlyThereWhereThePageHasIt) {
  Page plain{.text = {}, .colour = false}, coloured{.text = {}, .colour = true};
  put(plain, Tone::bad, 4, "FAIL x");
  put(coloured, Tone::bad, 4, "FAIL x");
  EXPECT_EQ(plain.text, "FAIL x\n");
  EXPECT_EQ(coloured.text, "\x1b[31mFAIL\x1b[0m x\n");
}

TEST(Page, ABrokenCommandCanBePasted) {
  Page page;
  put_command(page, "replay: ", std::string(50, 'a') + " " + std::string(50, 'b') + " c", 2);
  EXPECT_EQ(page.text,
            "  replay: " + std::string(50, 'a') + " \\\n    " + std::string(50, 'b') + " c\n");
}

TEST(Page, NumbersAreGroupedAndShort) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(short_number(712.3456), "712.35");
  EXPECT_EQ(short_number(std::nan("")), "-");
  EXPECT_EQ(short_spread(0.000244141), "0.00024");
  EXPECT_EQ(short_spread(1234.5), "1234");
  EXPECT_EQ(short_spread(std::nan("")), "-");
}

}  // namespace
}  // namespace tidemark
