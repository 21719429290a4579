// Paths in commands that tidemark prints for its users to run.
#include "harness/base/shell_word.hpp"

#include <gtest/gtest.h>
#include <fstream>

#include "harness/room.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/base/words.hpp"
#include "reports/testing/foreign_reader.hpp"

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

TEST(ShellWord, keeps_letters_beyond_ascii) {
  EXPECT_EQ(shell_word("caf\xc3\xa9.h5"), "'caf\xc3\xa9.h5'");
}

/// The file that bash opens for the word; empty where none is there.
std::string read_by_bash(const std::string& word) {
  return output_of("bash -c " + shell_word("cat " + word));
}

TEST(ShellWord, of_bytes_that_cannot_be_shown_is_read_by_bash_as_they_are) {
  const ScratchFolder folder;
  const std::string path = folder.file("n\xff\n\x1b[31m'\\ \xe2\x80\xae.h5");
  std::ofstream(path) << "found";
  EXPECT_EQ(printable(shell_word(path)), shell_word(path));
  EXPECT_EQ(read_by_bash(shell_word(path)), "found");
}

TEST(ShellWord, is_no_option) { EXPECT_EQ(shell_word("-x.h5"), "./-x.h5"); }

TEST(ShellWord, keeps_a_quote) { EXPECT_EQ(shell_word("a'b"), "'a'\\''b'"); }

}  // namespace

}  // namespace tidemark::harness
