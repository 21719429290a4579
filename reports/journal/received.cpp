// Sorts received lines by the rank in each.
#include "reports/journal/received.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "reports/base/disk.hpp"
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

/// What a stream could not read is not its end.
[[noreturn]] void refuse_unread(const std::string& path) {
  refuse(path, fmt::format("cannot be read: {}", error_text(errno)), "check the disk");
}

}  // namespace

std::string received_path(const std::string& folder) { return folder + "/received.jsonl"; }

ReceivedIndex::ReceivedIndex(const std::string& folder) : path_(received_path(folder)) {
  constexpr std::size_t kLongestLine = std::size_t{16} << 20;
  std::error_code error;  // a pipe in its place would block the reader for ever
  const std::filesystem::file_status status = std::filesystem::status(path_, error);
  if (status.type() == std::filesystem::file_type::none)
    refuse(path_, error.message(), "check the disk");
  if (!std::filesystem::is_regular_file(status)) return;
  std::ifstream file(path_, std::ios::binary);
  if (!file.is_open()) refuse_unread(path_);
  std::uint64_t offset = 0;
  // A hole of many GiB is no line.
  std::vector<char> line(kLongestLine);
  while (file.getline(line.data(), kLongestLine) && !file.eof()) {  // else torn
    const auto bytes = static_cast<std::uint64_t>(file.gcount());
    if (const auto rank = rank_in({line.data(), bytes - 1})) {
      std::vector<Extent>& of_rank = extents_[*rank];
      if (!of_rank.empty() && of_rank.back().offset + of_rank.back().bytes == offset) {
        of_rank.back().bytes += bytes;
      } else {
        of_rank.push_back({.offset = offset, .bytes = bytes});
      }
    }
    offset += bytes;
  }
  if (file.bad()) refuse_unread(path_);
}

std::vector<std::uint32_t> ReceivedIndex::ranks() const {
  std::vector<std::uint32_t> ranks;
  for (const auto& [rank, extents] : extents_) ranks.push_back(rank);
  return ranks;
}

std::string ReceivedIndex::lines(std::uint32_t rank) const {
  std::string lines;
  const auto found = extents_.find(rank);
  if (found == extents_.end()) return lines;
  std::ifstream file(path_, std::ios::binary);
  for (const Extent& extent : found->second) {
    std::string some(extent.bytes, '\0');
    file.seekg(static_cast<std::streamoff>(extent.offset));
    if (!file.read(some.data(), static_cast<std::streamsize>(some.size()))) refuse_unread(path_);
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
