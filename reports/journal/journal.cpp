// Appends journal lines, and reads those of others.
#include "reports/journal/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "reports/base/disk.hpp"

namespace tidemark::reports {
namespace {

/// The new name is durable only once the folder is.
void sync_folder(const std::string& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);  // some file systems refuse it; the journal itself is synced by append
  ::close(fd);
}

/// The rank in "rank-00012.jsonl".
std::optional<std::uint32_t> rank_of(std::string_view name) {
  constexpr std::string_view kBefore = "rank-", kAfter = ".jsonl";
  if (!name.starts_with(kBefore) || !name.ends_with(kAfter)) return std::nullopt;
  if (name.size() <= kBefore.size() + kAfter.size()) return std::nullopt;
  name.remove_prefix(kBefore.size());
  name.remove_suffix(kAfter.size());
  std::uint32_t rank = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), rank);
  if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return rank;
}

/// A torn last line would swallow the first received one.
std::string joined(std::string own, const std::string& received) {
  if (!received.empty()) own.resize(own.rfind('\n') + 1);
  return own + received;
}

/// Rank and path of every rank-*.jsonl, in order of rank.
std::vector<std::pair<std::uint32_t, std::string>> journals_in(const std::string& folder) {
  std::error_code error;
  std::vector<std::pair<std::uint32_t, std::string>> found;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (const auto rank = rank_of(name)) found.emplace_back(*rank, entry->path().string());
  }
  if (error) {
    refuse(folder, error.message(), "give the folder <report>.h5.run that a launch left");
  }
  if (found.empty()) {
    refuse(folder, "holds no rank-*.jsonl", "give the folder <report>.h5.run that a launch left");
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// A new journal, locked.
int created(const std::string& folder, const std::string& path) {
  // Not the folder around it: a disk that is not mounted on this host would be filled below it.
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    refuse(folder, fmt::format("cannot create the folder of the journals: {}", error_text(errno)),
           "give an --out in a folder that every host has and can write");
  }
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0 && errno == EEXIST) {
    refuse(path, "holds the journal of another launch",
           "make its report by 'tidemark recover' or move the folder away");
  }
  if (fd < 0) {
    refuse(path, fmt::format("cannot create the journal: {}", error_text(errno)),
           "give an --out in a folder that can be written");
  }
  ::flock(fd, LOCK_EX | LOCK_NB);  // some file systems have no locks
  sync_folder(folder);
  return fd;
}

}  // namespace

std::string journal_path(const std::string& folder, std::uint32_t rank) {
  return fmt::format("{}/rank-{:05}.jsonl", folder, rank);
}

JournalWriter::JournalWriter(const std::string& folder, std::uint32_t rank, std::size_t most_kept)
    : path_(journal_path(folder, rank)),
      next_{.run_id = {}, .rank = rank},
      file_(path_, created(folder, path_), most_kept) {}

void JournalWriter::append(const Record& record) {
  if (const auto* launch = std::get_if<LaunchRecord>(&record)) next_.run_id = launch->run_id;
  const std::string line = to_line(record, next_);
  ++next_.number;
  if (copy_) copy_(line);
  const bool lasting =
      !std::holds_alternative<StartRecord>(record) && !std::holds_alternative<NodeRecord>(record);
  file_.append(line, lasting);
}

void JournalWriter::copy_to(std::function<void(std::string)> take) {
  take(file_.text());
  copy_ = std::move(take);
}

std::string journal_in_use(const std::string& folder) {
  for (const auto& [rank, path] : journals_in(folder)) {
    // Not blocking: a pipe in place of a journal has nobody who writes to it.
    const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) continue;  // its launch ends
    if (fd < 0) refuse(path, error_text(errno), "make the journal readable");
    const bool in_use = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(fd);
    if (in_use) return path;
  }
  return {};
}

JournalFolder::JournalFolder(std::string folder, std::size_t most)
    : folder_(std::move(folder)), most_(most), received_(folder_) {}

std::string JournalFolder::text(std::uint32_t rank) const {
  const std::string path = journal_path(folder_, rank);
  return joined(is_there(path) ? file_text(path, most_, path, "check the disk, or remove it", true)
                               : std::string(),
                received_.lines(rank));
}

Journals read_journals(const std::string& folder) {
  // Together as many bytes as eight files may have, and of many ranks 8 MiB each.
  const auto files = journals_in(folder);
  const auto from = std::make_shared<const JournalFolder>(
      folder, std::clamp(8 * JournalFolder::kMostBytes / files.size(), std::size_t{8} << 20,
                         JournalFolder::kMostBytes));
  std::vector<std::uint32_t> ranks = from->received().ranks();
  for (const auto& [rank, path] : files) ranks.push_back(rank);
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const std::size_t count = ranks.size();
  return {count,
          [from, ranks = std::move(ranks)](std::size_t i) { return from->text(ranks.at(i)); }};
}

}  // namespace tidemark::reports
