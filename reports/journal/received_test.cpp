// Lines that rank 0 received, and journals that are read with and without them.
#include "reports/journal/received.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/journal/journal.hpp"
#include "reports/testing/example_launch.hpp"

namespace tidemark::reports {
namespace {

/// Two lines of the journal of a rank.
std::string lines_of(std::uint32_t rank) {
  return numbered_journal_of(rank, {example_launch(rank), example_outcome(rank, "load.tile.2d")});
}

void receive(const ScratchFolder& scratch, const std::string& lines) {
  std::ofstream(received_path(scratch.path()), std::ios::app) << lines;
}

TEST(Received, LinesOfSeveralRanksAreSortedByRank) {
  const ScratchFolder scratch;
  receive(scratch, numbered_journal_of(7, {example_launch(7)}));
  receive(scratch, lines_of(3));
  receive(scratch, lines_of(7).substr(numbered_journal_of(7, {example_launch(7)}).size()));
  const ReceivedIndex index(scratch.path());
  EXPECT_EQ(index.ranks(), (std::vector<std::uint32_t>{3, 7}));
  EXPECT_EQ(index.lines(3), lines_of(3));
  EXPECT_EQ(index.lines(7), lines_of(7));
  EXPECT_EQ(index.lines(5), "");
}

TEST(Received, NothingMakesNoFile) {
  const ScratchFolder scratch;
  const AppendedFile received(received_path(scratch.path()), -1, 0);
  EXPECT_FALSE(std::ifstream(received_path(scratch.path())).is_open());
  EXPECT_TRUE(ReceivedIndex(scratch.path()).ranks().empty());
}

TEST(Received, APipeInItsPlaceDoesNotHang) {
  const ScratchFolder scratch;
  ASSERT_EQ(mkfifo(scratch.file("received.jsonl").c_str(), 0600), 0);
  EXPECT_TRUE(ReceivedIndex(scratch.path()).ranks().empty());
}

TEST(Received, ATornLastLineIsLeftOut) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("received.jsonl")) << lines_of(1) << lines_of(2).substr(0, 200);
  const ReceivedIndex index(scratch.path());
  EXPECT_EQ(index.lines(1), lines_of(1));
  EXPECT_EQ(index.lines(2), "");
}

TEST(Received, ARankWithoutAJournalOfItsOwnIsReadFromThere) {
  const ScratchFolder scratch;
  JournalWriter(scratch.path(), 0).append(example_launch(0));
  receive(scratch, lines_of(1));
  const Journals all = read_journals(scratch.path());
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all.at(1), lines_of(1));
  const JournalFolder folder(scratch.path());
  EXPECT_EQ(folder.text(1), lines_of(1));
  EXPECT_EQ(folder.text(2), "");
}

TEST(Received, AHoleOfAHundredGibibytesIsNoLine) {
  const ScratchFolder scratch;
  receive(scratch, lines_of(1));
  std::filesystem::resize_file(received_path(scratch.path()), std::uintmax_t{100} << 30);
  EXPECT_EQ(ReceivedIndex(scratch.path()).lines(1), lines_of(1));
}

TEST(Received, LinesThatCannotBeLookedAtAreNotAbsent) {
  const ScratchFolder scratch;
  std::filesystem::create_symlink("received.jsonl", received_path(scratch.path()));
  EXPECT_THROW(ReceivedIndex(scratch.path()), ReportError);
}

TEST(Received, ALineThatIsInBothIsReadOnce) {
  const ScratchFolder scratch;
  JournalWriter own(scratch.path(), 1);
  own.append(example_launch(1));
  receive(scratch, lines_of(1));
  const JournalText journal = parse_journal(read_journals(scratch.path()).at(0));
  EXPECT_EQ(journal.records.size(), 2U);
  EXPECT_EQ(journal.damaged + journal.foreign + journal.missing, 0U);
}

TEST(Received, ATornJournalDoesNotTearReceivedLines) {
  const ScratchFolder scratch;
  std::ofstream(journal_path(scratch.path(), 1)) << lines_of(1).substr(0, lines_of(1).size() - 10);
  receive(scratch, lines_of(1));
  const JournalText journal = parse_journal(read_journals(scratch.path()).at(0));
  EXPECT_EQ(journal.records.size(), 2U);
  EXPECT_EQ(journal.damaged, 0U);
}

TEST(Received, AJournalOfAnotherRunIsNotSeen) {
  const ScratchFolder scratch;
  JournalWriter(scratch.path(), 0).append(example_launch(0));
  EXPECT_TRUE(sees_journal(scratch.path(), 0, example_launch(0).run_id));
  EXPECT_FALSE(sees_journal(scratch.path(), 0, "another"));
  EXPECT_FALSE(sees_journal(scratch.path(), 1, example_launch(0).run_id));
}

TEST(Received, EveryLineIsCopiedAlsoThoseFromBefore) {
  const ScratchFolder scratch;
  JournalWriter writer(scratch.path(), 3);
  writer.append(example_launch(3));
  std::string copied;
  writer.copy_to([&copied](const std::string& lines) { copied += lines; });
  JournalWriter moved = std::move(writer);
  moved.append(example_outcome(3, "load.tile.2d"));
  EXPECT_EQ(copied, lines_of(3));
}

}  // namespace
}  // namespace tidemark::reports
