// The journal of a rank: the file that grows by a line, and the lines that were received.
#include "reports/journal/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/testing/example_launch.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

/// A pipe that is full: a write to it hangs until some of it is read.
class HungDisk {
 public:
  HungDisk() {
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::fcntl(ends_[1], F_SETPIPE_SZ, 4096), 4096);
    const std::string page(4096, 'x');
    EXPECT_EQ(::write(ends_[1], page.data(), page.size()), 4096);
  }
  HungDisk(const HungDisk&) = delete;
  HungDisk& operator=(const HungDisk&) = delete;
  ~HungDisk() { ::close(ends_[0]); }

  int fd() const { return ends_[1]; }  // goes to the file
  void answer() const {
    std::string all(4096, '\0');
    EXPECT_EQ(::read(ends_[0], all.data(), all.size()), 4096);
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(AppendedFile, ADiskThatHangsHoldsNobodyAndCostsNoLine) {
  const HungDisk disk;
  AppendedFile file("journal", disk.fd(), AppendedFile::kMostKept);
  file.append("one\n", false);
  file.append("two\n", false);
  EXPECT_EQ(file.text(), "one\ntwo\n");
  EXPECT_EQ(file.unwritten(), 8U);
  EXPECT_FALSE(file.flush(0.05));
  disk.answer();
  EXPECT_TRUE(file.flush(60));
}

TEST(AppendedFile, OfADiskThatRefusesIsSaidOnceWhy) {
  AppendedFile file("journal", ::open("/dev/full", O_WRONLY | O_CLOEXEC), AppendedFile::kMostKept);
  file.append("one\n", true);
  EXPECT_TRUE(has(file.trouble(), "journal: cannot write: No space left"));
  file.append("two\n", true);
  EXPECT_EQ(file.trouble(), "");
  EXPECT_EQ(file.text(), "one\ntwo\n");
}

TEST(AppendedFile, OfAFileThatIsRemovedIsSaidOnceAndItsLinesStay) {
  const ScratchFolder scratch;
  AppendedFile file(scratch.file("x"), -1, AppendedFile::kMostKept);
  file.append("one\n", true);
  ASSERT_TRUE(file.flush(60));
  std::filesystem::remove(scratch.file("x"));
  file.append("two\n", true);
  EXPECT_FALSE(file.flush(0.05));
  EXPECT_TRUE(has(file.trouble(), "x: was removed"));
  EXPECT_EQ(file.trouble(), "");
  EXPECT_EQ(file.text(), "one\ntwo\n");
  EXPECT_EQ(file.unwritten(), 4U);
}

TEST(AppendedFile, BeyondItsMemoryTheFileIsTheOnlyCopy) {
  const ScratchFolder scratch;
  AppendedFile file(scratch.file("x"), -1, 8);
  file.append("one\ntwo\n", false);
  EXPECT_FALSE(file.outgrown());
  file.append("three\n", false);
  EXPECT_TRUE(file.outgrown());
  EXPECT_TRUE(has(file.trouble(), "in this file alone"));
  EXPECT_EQ(file.trouble(), "");
  ASSERT_TRUE(file.flush(60));
  EXPECT_EQ(file.text(), "one\ntwo\n");
}

}  // namespace

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

namespace {

std::string error_of(void (*act)(const std::string&), const std::string& path) {
  return error_from([&] { act(path); });
}

TEST(Journal, WhatIsAppendedIsReadInOrderOfRank) {
  const ScratchFolder scratch;
  const std::string folder = scratch.file("x.h5.run");
  JournalWriter twelfth(folder, 12), third(folder, 3);
  twelfth.append(example_launch(12));
  third.append(example_launch(3));
  third.append(example_outcome(3, "load.tile.2d"));
  const Journals texts = read_journals(folder);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts.at(0),
            numbered_journal_of(3, {example_launch(3), example_outcome(3, "load.tile.2d")}));
  EXPECT_EQ(texts.at(1), numbered_journal_of(12, {example_launch(12)}));
  EXPECT_EQ(third.path(), folder + "/rank-00003.jsonl");
}

TEST(Journal, RanksBeyondFiveDigitsStandBehindTheOthers) {
  const ScratchFolder scratch;
  JournalWriter(scratch.path(), 100000).append(example_launch(100000));
  JournalWriter(scratch.path(), 99999).append(example_launch(99999));
  EXPECT_EQ(read_journals(scratch.path()).at(0),
            numbered_journal_of(99999, {example_launch(99999)}));
}

TEST(Journal, AnOlderJournalIsRefusedAndStays) {
  const ScratchFolder scratch;
  JournalWriter(scratch.path(), 0).append(example_launch(0));
  EXPECT_TRUE(has(error_of([](const std::string& path) { JournalWriter(path, 0); }, scratch.path()),
                  "rank-00000.jsonl: holds the journal of another launch"));
  EXPECT_EQ(read_journals(scratch.path()).at(0), numbered_journal_of(0, {example_launch(0)}));
}

TEST(Journal, AFolderThatCannotBeMadeIsNamed) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("file")) << "x";
  EXPECT_TRUE(has(error_of([](const std::string& path) { JournalWriter(path, 0); },
                           scratch.file("file/x.h5.run")),
                  "file/x.h5.run: cannot create the folder"));
}

TEST(Journal, TheFolderAroundItsFolderIsNotMade) {
  const ScratchFolder scratch;
  EXPECT_THROW(JournalWriter(scratch.file("none/x.h5.run"), 0), ReportError);
  EXPECT_FALSE(std::filesystem::exists(scratch.file("none")));
}

/// What happens to the files of a folder while this lives.
class Watch {
 public:
  explicit Watch(const std::string& folder) {
    inotify_add_watch(fd_, folder.c_str(), IN_CLOSE_WRITE | IN_DELETE);
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { ::close(fd_); }

  std::vector<std::uint32_t> events() {
    alignas(inotify_event) std::array<char, 4096> bytes{};
    const ssize_t got = ::read(fd_, bytes.data(), bytes.size());
    std::vector<std::uint32_t> found;
    for (ssize_t at = 0; at < got;) {
      inotify_event event{};
      std::memcpy(&event, bytes.data() + at, sizeof event);
      found.push_back(event.mask);
      at += static_cast<ssize_t>(sizeof event + event.len);
    }
    return found;
  }

 private:
  int fd_ = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
};

// NFS gives a file that is removed while it is open another name, and the folder is not empty.
TEST(Journal, IsClosedBeforeItIsRemoved) {
  const ScratchFolder scratch;
  JournalWriter writer(scratch.path(), 0);
  writer.append(example_launch(0));
  Watch watch(scratch.path());
  writer.file().remove();
  EXPECT_EQ(watch.events(), (std::vector<std::uint32_t>{IN_CLOSE_WRITE, IN_DELETE}));
}

TEST(Journal, ReceivedLinesAreClosedBeforeTheyAreRemoved) {
  const ScratchFolder scratch;
  AppendedFile received(received_path(scratch.path()), -1, 0);
  received.append(numbered_journal_of(7, {example_launch(7)}), false);
  Watch watch(scratch.path());
  received.remove();
  EXPECT_EQ(watch.events(), (std::vector<std::uint32_t>{IN_CLOSE_WRITE, IN_DELETE}));
}

TEST(Journal, AMovedWriterGoesOnInTheSameFile) {
  const ScratchFolder scratch;
  JournalWriter first(scratch.path(), 0);
  JournalWriter second(std::move(first));
  second.append(example_launch(0));
  JournalWriter third(scratch.path(), 1);
  third = std::move(second);
  third.append(example_end(0));
  EXPECT_EQ(read_journals(scratch.path()).at(0),
            numbered_journal_of(0, {example_launch(0), example_end(0)}));
}

TEST(Journal, IsInUseUntilItsWriterIsGone) {
  const ScratchFolder scratch;
  {
    const JournalWriter writer(scratch.path(), 3);
    EXPECT_EQ(journal_in_use(scratch.path()), writer.path());
  }
  EXPECT_EQ(journal_in_use(scratch.path()), "");
}

/// Exit code of a child whose disk is full after `bytes`, and then is not: 0 when nothing was lost.
int append_while_full(const std::string& folder, rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  JournalWriter writer(folder, 0);
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = bytes;
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
  for (int i = 0; i < 3; ++i) writer.append(example_end(0));
  if (writer.file().unwritten() == 0) return 4;
  if (parse_journal(writer.file().text()).records.size() != 3) return 5;
  limit.rlim_cur = before;
  setrlimit(RLIMIT_FSIZE, &limit);
  writer.append(example_end(0));
  return writer.file().flush(60) ? 0 : 6;
}

TEST(Journal, WhatAFullDiskDidNotTakeIsKeptAndWrittenLater) {
  const ScratchFolder scratch;
  const std::size_t line = to_line(example_end(0), LineOrigin{}).size();
  const pid_t child = fork();
  if (child == 0) _exit(append_while_full(scratch.path(), line + 10));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const JournalText journal = parse_journal(read_journals(scratch.path()).at(0));
  EXPECT_EQ(journal.records.size(), 4U);
  EXPECT_EQ(journal.damaged + journal.missing, 0U);
}

TEST(Journal, ATextOutlivesItsFolder) {
  const ScratchFolder scratch;
  JournalWriter writer(scratch.file("x.h5.run"), 0);
  writer.append(example_end(0));
  std::filesystem::remove_all(scratch.file("x.h5.run"));
  writer.append(example_end(0));
  EXPECT_EQ(parse_journal(writer.file().text()).records.size(), 2U);
}

TEST(Journal, OtherFilesOfTheFolderAreLeftAlone) {
  const ScratchFolder scratch;
  JournalWriter(scratch.path(), 0).append(example_end(0));
  std::ofstream(scratch.file("rank-1x.jsonl")) << "x";
  std::ofstream(scratch.file("rank-.jsonl")) << "x";
  std::ofstream(scratch.file("notes.txt")) << "x";
  EXPECT_EQ(read_journals(scratch.path()).size(), 1U);
}

TEST(Journal, AFolderWithoutJournalsIsAnError) {
  const ScratchFolder scratch;
  const auto read = [](const std::string& path) { read_journals(path); };
  EXPECT_TRUE(has(error_of(read, scratch.path()), "holds no rank-*.jsonl"));
  EXPECT_TRUE(has(error_of(read, scratch.file("none")), "No such file"));
}

// Address 0 of this process, which nothing can read, for a page of a disk that is broken.
TEST(Journal, OneThatCannotBeReadIsNotAShorterOne) {
  const ScratchFolder folder;
  std::filesystem::create_symlink("/proc/self/mem", journal_path(folder.path(), 0));
  const Journals journals = read_journals(folder.path());
  const std::string error = error_from([&] { journals.at(0); });
  EXPECT_TRUE(has(error, "cannot be read: Input/output error")) << error;
}

TEST(Journal, OneThatCannotBeLookedAtIsNotAbsent) {
  const ScratchFolder folder;
  std::filesystem::create_symlink("rank-00000.jsonl", journal_path(folder.path(), 0));
  EXPECT_THROW(JournalFolder(folder.path()).text(0), ReportError);
}

TEST(Journal, OneWithAHoleOfAHundredGibibytesIsReadUpToTheHole) {
  const ScratchFolder folder;
  JournalWriter(folder.path(), 0).append(example_end(0));
  std::filesystem::resize_file(journal_path(folder.path(), 0), std::uintmax_t{100} << 30);
  const JournalText journal = parse_journal(read_journals(folder.path()).at(0));
  EXPECT_EQ(journal.records.size(), 1U);
  EXPECT_EQ(journal.damaged, 0U);
}

TEST(Journal, OneThatIsTooLongIsUnfit) {
  const ScratchFolder folder;
  JournalWriter(folder.path(), 0).append(example_end(0));
  const std::size_t bytes = std::filesystem::file_size(journal_path(folder.path(), 0));
  EXPECT_EQ(JournalFolder(folder.path(), bytes).text(0).size(), bytes);
  EXPECT_THROW(JournalFolder(folder.path(), bytes - 1).text(0), UnfitFile);
}

TEST(Journal, APipeInPlaceOfAJournalDoesNotHang) {
  const ScratchFolder scratch;
  ASSERT_EQ(mkfifo(scratch.file("rank-00000.jsonl").c_str(), 0600), 0);
  EXPECT_TRUE(
      has(error_of([](const std::string& path) { read_journals(path).at(0); }, scratch.path()),
          "is no plain file"));
}

/// Exit code of a child whose files may not grow beyond `bytes`; 0 when that was said.
int append_until_full(const std::string& folder, rlim_t bytes) {
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{.rlim_cur = bytes, .rlim_max = bytes};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 3;
  JournalWriter writer(folder, 0);
  for (int i = 0; i < 10; ++i) writer.append(example_end(0));
  return writer.file().trouble().starts_with(writer.path() + ": cannot write: ") ? 0 : 4;
}

TEST(Journal, AFullDiskIsSaidAndLeavesWholeLines) {
  const ScratchFolder scratch;
  const std::size_t line = to_line(example_end(0), LineOrigin{}).size();
  const pid_t child = fork();
  if (child == 0) _exit(append_until_full(scratch.path(), 2 * line + 10));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const JournalText journal = parse_journal(read_journals(scratch.path()).at(0));
  EXPECT_EQ(journal.records.size(), 2U);
  EXPECT_EQ(journal.damaged, 0U);
}

}  // namespace

}  // namespace tidemark
