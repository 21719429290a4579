// Appends received lines and sorts them by the rank in each.
#include "reports/journal/received.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "reports/error.hpp"
#include "reports/journal/journal.hpp"

namespace tidemark::reports {
namespace {

/// The rank in {"type":"end","from":["RUN ID",3,17],... Whether the line is sound is seen later.
std::optional<std::uint32_t> rank_in(std::string_view line) {
  constexpr std::string_view kFrom = "\"from\":[\"", kBehindRun = "\",";
  const std::size_t from = line.find(kFrom);
  if (from == std::string_view::npos) return std::nullopt;
  const std::size_t run_end = line.find(kBehindRun, from + kFrom.size());
  if (run_end == std::string_view::npos) return std::nullopt;
  const char* const begin = line.data() + run_end + kBehindRun.size();
  std::uint32_t rank = 0;
  const auto [end, error] = std::from_chars(begin, line.data() + line.size(), rank);
  if (error != std::errc{}) return std::nullopt;
  return rank;
}

std::string file_in(const std::string& folder) { return folder + "/received.jsonl"; }

}  // namespace

ReceivedLines::ReceivedLines(const std::string& folder) : path_(file_in(folder)) {}

ReceivedLines::~ReceivedLines() {
  if (fd_ >= 0) ::close(fd_);
}

void ReceivedLines::append(const std::string& lines) {
  if (given_up_ || lines.empty()) return;
  if (fd_ < 0)
    fd_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  const ssize_t written = fd_ < 0 ? -1 : ::write(fd_, lines.data(), lines.size());
  if (written == static_cast<ssize_t>(lines.size())) return;
  // A line that is torn stays the last one.
  given_up_ = true;
  throw ReportError(fmt::format(
      "{}: {}; lines of ranks with folders of their own are no longer kept here, but in theirs",
      path_, written < 0 ? std::generic_category().message(errno) : "the disk is full"));
}

void ReceivedLines::remove() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  ::unlink(path_.c_str());
}

ReceivedIndex::ReceivedIndex(const std::string& folder) : path_(file_in(folder)) {
  std::error_code error;  // a pipe in its place would block the reader for ever
  if (!std::filesystem::is_regular_file(path_, error)) return;
  std::ifstream file(path_, std::ios::binary);
  std::uint64_t offset = 0;
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) break;  // torn
    const std::uint64_t bytes = line.size() + 1;
    if (const auto rank = rank_in(line)) {
      std::vector<Extent>& of_rank = extents_[*rank];
      if (!of_rank.empty() && of_rank.back().offset + of_rank.back().bytes == offset) {
        of_rank.back().bytes += bytes;
      } else {
        of_rank.push_back({.offset = offset, .bytes = bytes});
      }
    }
    offset += bytes;
  }
}

std::vector<std::uint32_t> ReceivedIndex::ranks() const {
  std::vector<std::uint32_t> ranks;
  for (const auto& [rank, extents] : extents_) ranks.push_back(rank);
  return ranks;
}

std::uint64_t ReceivedIndex::bytes(std::uint32_t rank) const {
  const auto found = extents_.find(rank);
  std::uint64_t bytes = 0;
  if (found == extents_.end()) return bytes;
  for (const Extent& extent : found->second) bytes += extent.bytes;
  return bytes;
}

std::string ReceivedIndex::lines(std::uint32_t rank) const {
  std::string lines;
  const auto found = extents_.find(rank);
  if (found == extents_.end()) return lines;
  std::ifstream file(path_, std::ios::binary);
  for (const Extent& extent : found->second) {
    std::string some(extent.bytes, '\0');
    file.seekg(static_cast<std::streamoff>(extent.offset));
    if (!file.read(some.data(), static_cast<std::streamsize>(some.size()))) break;
    lines += some;
  }
  return lines;
}

bool sees_journal(const std::string& folder, std::uint32_t rank, const std::string& run_id) {
  std::ifstream file(journal_path(folder, rank), std::ios::binary);
  std::string first;
  std::getline(file, first);
  return first.find(run_id) != std::string::npos;
}

}  // namespace tidemark::reports
