// Journal lines of ranks whose folders lie on other hosts: X.h5.run/received.jsonl, a second copy.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tidemark::reports {

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

}  // namespace tidemark::reports
