// Journal files on disk: X.h5.run/rank-00000.jsonl.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "reports/journal/appended_file.hpp"
#include "reports/journal/received.hpp"
#include "reports/journal/record.hpp"

namespace tidemark::reports {

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

}  // namespace tidemark::reports
