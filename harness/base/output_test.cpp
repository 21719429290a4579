// Output to somebody who may take his time, or never read: `less`, a stuck pipe, a full disk.
#include "harness/base/output.hpp"

#include <fcntl.h>
#include <stdlib.h>

#include <gtest/gtest.h>
#include <cerrno>
#include <fstream>

#include "harness/base/child_process.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/base/words.hpp"
#include "reports/testing/foreign_reader.hpp"

namespace tidemark {

namespace {

const std::string kMore(200000, 'x');  // than a pipe of 64 KiB takes

TEST(WriteWithin, is_over_where_nobody_reads) {
  const Pipe pipe = make_pipe();
  const Written written = write_within(pipe.write.get(), kMore, 0);
  EXPECT_GT(written.bytes, 0U);
  EXPECT_LT(written.bytes, kMore.size());
  EXPECT_EQ(written.error, 0);
}

// It says that it takes bytes when it takes one, and a write would wait for the others.
TEST(WriteWithin, is_over_where_nobody_reads_a_terminal) {
  const FileDescriptor master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_EQ(::grantpt(master.get()), 0);
  ASSERT_EQ(::unlockpt(master.get()), 0);
  const FileDescriptor slave(::open(::ptsname(master.get()), O_WRONLY | O_NOCTTY | O_CLOEXEC));
  std::string line;  // some, whose ends become two bytes each
  for (int i = 0; i < 20; ++i) line += std::string(27, 'x') + '\n';
  std::size_t lines = 0;
  while (write_within(slave.get(), line, 0).bytes == line.size()) ASSERT_LT(++lines, 10000U);
  EXPECT_LT(write_within(slave.get(), kMore, 0.1).bytes, kMore.size());
}

TEST(WriteWithin, says_what_took_nothing) {
  const FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  EXPECT_EQ(write_within(full.get(), "x", 0).error, ENOSPC);
}

TEST(Output, comes_whole_and_in_order_when_it_is_read) {
  Pipe pipe = make_pipe();
  Output output(pipe.write.get());
  output.put(kMore);
  output.put("end");
  set_non_blocking(pipe.read.get());
  std::string read;
  output.finish([&] {
    drain(pipe.read, read);
    return true;
  });
  drain(pipe.read, read);
  EXPECT_EQ(read, kMore + "end");
  EXPECT_FALSE(output.lost());
}

TEST(Output, is_lost_where_nobody_waits_for_its_reader) {
  Pipe pipe = make_pipe();
  Output output(pipe.write.get());
  output.put(kMore);
  EXPECT_FALSE(output.lost());
  output.finish([] { return false; });
  EXPECT_TRUE(output.lost());
}

TEST(Output, is_not_missed_where_it_was_closed) {
  // What main() puts in the place of a stdout that was closed.
  const FileDescriptor closed(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  Output output(closed.get());
  output.put("x");
  output.finish([] { return true; });
  EXPECT_FALSE(output.lost());
}

}  // namespace

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

}  // namespace tidemark
