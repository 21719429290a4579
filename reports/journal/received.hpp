// Journal lines of ranks whose folders lie on other hosts: X.h5.run/received.jsonl, a second copy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tidemark::reports {

/// What rank 0 keeps of them, in the order in which they come: one file however many ranks, because
/// a process may open only so many.
class ReceivedLines {
 public:
  explicit ReceivedLines(const std::string& folder);
  ReceivedLines(const ReceivedLines&) = delete;
  ReceivedLines& operator=(const ReceivedLines&) = delete;
  ~ReceivedLines();

  /// Whole lines; the first make the file. It is not synced: the journal is, on the host of its
  /// rank. Throws ReportError once where they cannot be written; from then on they are dropped.
  void append(const std::string& lines);
  /// Closes the file and then removes it: see JournalWriter. No line comes after this.
  void remove();

 private:
  std::string path_;
  int fd_ = -1;
  bool given_up_ = false;
};

/// Where the lines of each rank lie in that file. Nothing where none were received or none can be
/// read.
class ReceivedIndex {
 public:
  explicit ReceivedIndex(const std::string& folder);

  std::vector<std::uint32_t> ranks() const;
  std::uint64_t bytes(std::uint32_t rank) const;
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

}  // namespace tidemark::reports
