// Journal lines of ranks whose folders lie on other hosts: X.h5.run/received.jsonl, a second copy.
#pragma once

#include <cstdint>
#include <map>
#include <string>

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
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int fd_ = -1;
  bool given_up_ = false;
};

/// By rank; empty where nothing was received or nothing can be read.
std::map<std::uint32_t, std::string> received_lines(const std::string& folder);

/// Whether this journal is in the folder as this process sees it, and of this run.
bool sees_journal(const std::string& folder, std::uint32_t rank, const std::string& run_id);

}  // namespace tidemark::reports
