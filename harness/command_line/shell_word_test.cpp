// Words that a shell reads as they were meant.
#include "harness/command_line/shell_word.hpp"

#include <gtest/gtest.h>

namespace tidemark::harness {
namespace {

TEST(ShellWord, is_a_plain_path_as_it_is) {
  EXPECT_EQ(shell_word("/shared/night-1.h5.run"), "/shared/night-1.h5.run");
}

TEST(ShellWord, is_in_quotes_with_anything_that_a_shell_reads) {
  EXPECT_EQ(shell_word("my reports/a.h5"), "'my reports/a.h5'");
  EXPECT_EQ(shell_word("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_word(""), "''");
}

TEST(ShellWord, keeps_a_quote) { EXPECT_EQ(shell_word("a'b"), "'a'\\''b'"); }

}  // namespace
}  // namespace tidemark::harness
