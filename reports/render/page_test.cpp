// Lines for a terminal.
#include "reports/render/page.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tidemark {
namespace {

TEST(Page, WhatCouldDriveATerminalBecomesAQuestionMark) {
  EXPECT_EQ(printable("a\x1b[31mb\x07\n\x7f\xc2\x9b\xff~"), "a?[31mb??????~");
}

TEST(Page, LinesBreakAtSpacesAndAreIndented) {
  Page page;
  put(page, std::string(60, 'a') + " " + std::string(60, 'b'), 4);
  EXPECT_EQ(page.text, std::string(60, 'a') + "\n    " + std::string(60, 'b') + "\n");
}

TEST(Page, AWordTooLongForALineIsCut) {
  Page page;
  put(page, std::string(150, 'a'), 4);
  EXPECT_EQ(page.text, std::string(100, 'a') + "\n    " + std::string(50, 'a') + "\n");
}

TEST(Page, ALineOfExactlyAPageIsNotBroken) {
  Page page;
  put(page, std::string(50, 'a') + " " + std::string(49, 'b'));
  EXPECT_EQ(page.text.size(), 101U);
}

TEST(Page, ColourIsOnlyThereWhereThePageHasIt) {
  Page plain{.text = {}, .colour = false}, coloured{.text = {}, .colour = true};
  put(plain, Colour::red, 4, "FAIL x");
  put(coloured, Colour::red, 4, "FAIL x");
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
}

}  // namespace
}  // namespace tidemark
