// The journal of a rank: the file that grows by a line, and the lines that were received.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/journal/record.hpp"

namespace tidemark {

// A file that grows by whole lines, written aside: a disk that hangs holds nobody.

/// Lines are in memory until the disk has taken them. What it refuses is tried again with the next
/// lines, and each second in which this is looked at. For one thread.
class AppendedFile {
 public:
  static constexpr std::size_t kMostKept = std::size_t{64} << 20;  // bytes

  /// Takes `fd`; of -1 the first lines make the file. Of its text up to `most_kept` bytes stay in
  /// memory.
  AppendedFile(std::string path, int fd, std::size_t most_kept);
  AppendedFile(AppendedFile&&) = default;
  AppendedFile& operator=(AppendedFile&&) = default;
  ~AppendedFile() {
    if (file_) flush(1);
  }

  /// Waits at most a second until the disk has them, and not at all where it is behind.
  void append(std::string_view lines, bool sync);
  /// Waits until the disk has all. False where it has not after so long.
  bool flush(double seconds);
  /// Closes the file and then removes it: NFS keeps one that is open under another name, and the
  /// folder with it. No line comes after this.
  void remove();
  std::size_t unwritten() const { return unwritten_.size(); }  // bytes
  /// What is in memory; all of it unless outgrown().
  std::string text() const { return outgrown_ ? kept_ + unwritten_ : kept_; }
  bool outgrown() const { return outgrown_; }
  /// What is wrong with the disk, in one line, once until that is over; empty where nothing is.
  std::string trouble();

 private:
  struct Opened;
  struct Written {
    std::size_t bytes = 0;
    std::string refusal = {};
  };

  static Written write(Opened& file, const std::string& path, const std::string& bytes, bool sync);
  void step(double most_s);

  std::string path_;
  std::size_t most_kept_;
  std::shared_ptr<Opened> file_;
  std::string kept_, unwritten_;
  std::size_t in_file_ = 0;       // bytes of unwritten_: a line that is torn is completed
  std::future<Written> writing_;  // of all of unwritten_ that was there
  std::size_t under_way_ = 0;     // bytes
  std::chrono::steady_clock::time_point began_;
  std::string error_;  // of the last try
  bool sync_ = false, outgrown_ = false, said_ = false, said_outgrown_ = false;
};

// Journal lines of ranks whose folders lie on other hosts: X.h5.run/received.jsonl, a second copy.

/// What rank 0 keeps of them, in the order in which they come: one file however many ranks, because
/// a process may open only so many. It is not synced: the journal is, on the host of its rank.
std::string received_path(const std::string& folder);

/// Where the lines of each rank lie in that file. Nothing where it is not there, or not a file;
/// throws ReportError where it cannot be read.
class ReceivedIndex {
 public:
  explicit ReceivedIndex(const std::string& folder);

  std::vector<std::uint32_t> ranks() const;
  std::string lines(std::uint32_t rank) const;

 private:
  struct Extent {
    std::uint64_t offset = 0, bytes = 0;
  };
  std::string path_;
  std::map<std::uint32_t, std::vector<Extent>> extents_;  // by rank
};

/// Whether this journal is in the folder as this process sees it, and of this run.
bool sees_journal(const std::string& folder, std::uint32_t rank, const std::string& run_id);

// Journal files on disk: X.h5.run/rank-00000.jsonl.

/// Appends records to one file, the second copy of what is in memory. An outcome is on disk when
/// append() returns, unless the disk does not answer within a second or refuses it: that is in
/// trouble(). The first record is that of the launch: its run id goes into the origin of each line.
/// The file is locked (flock) until this process ends.
class JournalWriter {
 public:
  /// Creates the folder if needed and the file exclusively; both must not hold an older launch.
  /// Throws ReportError (path, errno). Of its text up to `most_kept` bytes stay in memory.
  JournalWriter(const std::string& folder, std::uint32_t rank,
                std::size_t most_kept = AppendedFile::kMostKept);

  void append(const Record& record);
  /// Gives `take` every line: those that are there now, and each later one before it is written,
  /// whether or not the disk takes it.
  void copy_to(std::function<void(std::string lines)> take);
  AppendedFile& file() { return file_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  LineOrigin next_;
  AppendedFile file_;
  std::function<void(std::string)> copy_;
};

std::string journal_path(const std::string& folder, std::uint32_t rank);

/// A journal of the folder that its writer still holds open; empty where none is, or where the file
/// system has no locks. Throws ReportError where one cannot be looked at.
std::string journal_in_use(const std::string& folder);

/// The texts of journals, each read when it is asked for: those of ten thousand ranks do not fit in
/// memory together.
class Journals {
 public:
  using Read = std::function<std::string(std::size_t)>;  // called by the thread that asks

  Journals(std::size_t size, Read read) : size_(size), read_(std::move(read)) {}
  Journals(std::vector<std::string> texts)  // NOLINT(google-explicit-constructor)
      : size_(texts.size()), read_([all = std::move(texts)](std::size_t i) { return all.at(i); }) {}

  std::size_t size() const { return size_; }
  std::string at(std::size_t i) const { return read_(i); }

 private:
  std::size_t size_;
  Read read_;
};

/// The journals of a folder: of each rank the text of its rank-*.jsonl up to a hole, and behind it
/// the lines that rank 0 received of it.
class JournalFolder {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 30;  // a night: 0.6 MiB

  explicit JournalFolder(std::string folder, std::size_t most = kMostBytes);

  /// Throws ReportError where a file is there that cannot be read; UnfitFile where it has more than
  /// `most` bytes, or is no file.
  std::string text(std::uint32_t rank) const;
  const ReceivedIndex& received() const { return received_; }

 private:
  std::string folder_;
  std::size_t most_;
  ReceivedIndex received_;
};

/// All of them in order of rank. Throws ReportError where the folder has no journal.
Journals read_journals(const std::string& folder);

}  // namespace tidemark
