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

std::map<std::uint32_t, std::string> received_lines(const std::string& folder) {
  std::map<std::uint32_t, std::string> lines;
  std::error_code error;  // a pipe in its place would block the reader for ever
  if (!std::filesystem::is_regular_file(file_in(folder), error)) return lines;
  std::ifstream file(file_in(folder), std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) break;  // torn
    if (const auto rank = rank_in(line)) lines[*rank] += line + '\n';
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
