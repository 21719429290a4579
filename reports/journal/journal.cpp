// Appends journal lines so that a record is on disk whole or said to be lost, and reads them back.
#include "reports/journal/journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "reports/error.hpp"

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

/// A journal of others, open as long as this is. A pipe put there under its name would block the
/// reader for ever.
class OpenJournal {
 public:
  explicit OpenJournal(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    struct stat status {};
    if (fd_ < 0) refuse(path, error_text(errno), "make the journal readable");
    if (::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode)) return;
    ::close(fd_);
    refuse(path, "not a regular file", "remove it from the folder");
  }
  OpenJournal(const OpenJournal&) = delete;
  OpenJournal& operator=(const OpenJournal&) = delete;
  ~OpenJournal() { ::close(fd_); }

  /// A stream would take what cannot be read for the end.
  std::string text() const {
    std::string text;
    std::array<char, 65536> bytes{};
    while (true) {
      const ssize_t got = ::read(fd_, bytes.data(), bytes.size());
      if (got < 0 && errno == EINTR) continue;
      if (got < 0)
        refuse(path_, fmt::format("cannot be read: {}", error_text(errno)), "check the disk");
      if (got == 0) return text;
      text.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  std::string path_;
  int fd_;
};

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

}  // namespace

std::string journal_path(const std::string& folder, std::uint32_t rank) {
  return fmt::format("{}/rank-{:05}.jsonl", folder, rank);
}

JournalWriter::JournalWriter(const std::string& folder, std::uint32_t rank)
    : path_(journal_path(folder, rank)), next_{.run_id = {}, .rank = rank} {
  // Not the folder around it: a disk that is not mounted on this host would be filled below it.
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) {
    refuse(folder, fmt::format("cannot create the folder of the journals: {}", error_text(errno)),
           "give an --out in a folder that every host has and can write");
  }
  fd_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0 && errno == EEXIST) {
    refuse(path_, "holds the journal of another launch",
           "make its report by 'tidemark recover' or move the folder away");
  }
  if (fd_ < 0) {
    refuse(path_, fmt::format("cannot create the journal: {}", error_text(errno)),
           "give an --out in a folder that can be written");
  }
  ::flock(fd_, LOCK_EX | LOCK_NB);  // some file systems have no locks
  sync_folder(folder);
}

JournalWriter::JournalWriter(JournalWriter&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      next_(std::move(other.next_)),
      unwritten_(std::move(other.unwritten_)),
      copy_(std::move(other.copy_)) {}

JournalWriter& JournalWriter::operator=(JournalWriter&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(fd_, other.fd_);
  std::swap(next_, other.next_);
  std::swap(unwritten_, other.unwritten_);
  std::swap(copy_, other.copy_);
  return *this;
}

JournalWriter::~JournalWriter() {
  if (fd_ >= 0) ::close(fd_);
}

void JournalWriter::append(const Record& record) {
  constexpr std::string_view kHint = "free some space; this record is kept in memory until then";
  if (const auto* launch = std::get_if<LaunchRecord>(&record)) next_.run_id = launch->run_id;
  const std::string line = to_line(record, next_);
  ++next_.number;
  if (copy_) copy_(line);
  unwritten_ += line;
  ssize_t written = -1;
  do {
    written = ::write(fd_, unwritten_.data(), unwritten_.size());
  } while (written < 0 && errno == EINTR);
  if (written < 0) {
    refuse(path_, fmt::format("cannot write: {}", error_text(errno)), kHint);
  }
  if (static_cast<std::size_t>(written) < unwritten_.size()) {
    // A torn line would swallow the next record with it, so it is taken back.
    const std::size_t size = unwritten_.size();
    struct stat status {};
    const bool taken_back = ::fstat(fd_, &status) == 0 && status.st_size >= written &&
                            ::ftruncate(fd_, status.st_size - written) == 0;
    if (!taken_back) unwritten_.insert(0, 1, '\n');
    refuse(path_,
           fmt::format("only {} of {} bytes could be written{}", written, size,
                       taken_back ? "" : ", and the torn line stays"),
           kHint);
  }
  unwritten_.clear();
  const bool lasting =
      !std::holds_alternative<StartRecord>(record) && !std::holds_alternative<NodeRecord>(record);
  if (lasting && ::fdatasync(fd_) != 0) {
    refuse(path_, fmt::format("cannot sync: {}", error_text(errno)),
           "check the disk; this record may be lost");
  }
}

void JournalWriter::copy_to(std::function<void(std::string)> take) {
  take(text());
  copy_ = std::move(take);
}

std::uint64_t JournalWriter::bytes() const {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) return unwritten_.size();
  return static_cast<std::uint64_t>(status.st_size) + unwritten_.size();
}

std::string JournalWriter::text() const {
  std::string text;
  std::array<char, 65536> bytes{};
  ssize_t got = 0;
  // Asked for where the disk failed: what it gives back is more than nothing, and what is missing
  // is seen by the numbers of the lines.
  while ((got = ::pread(fd_, bytes.data(), bytes.size(), static_cast<off_t>(text.size()))) > 0) {
    text.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return text + unwritten_;
}

void JournalWriter::remove() {
  ::close(std::exchange(fd_, -1));
  ::unlink(path_.c_str());
}

std::string journal_in_use(const std::string& folder) {
  for (const auto& [rank, path] : journals_in(folder)) {
    // Not blocking: a pipe in place of a journal has nobody who writes to it.
    const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) continue;
    const bool in_use = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(fd);
    if (in_use) return path;
  }
  return {};
}

JournalFolder::JournalFolder(std::string folder) : folder_(std::move(folder)), received_(folder_) {}

std::uint64_t JournalFolder::bytes(std::uint32_t rank) const {
  // Opened, because NFS asks for the size of today only then.
  const int fd = ::open(journal_path(folder_, rank).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  const bool own = fd >= 0 && ::fstat(fd, &status) == 0;
  if (fd >= 0) ::close(fd);
  return (own ? static_cast<std::uint64_t>(status.st_size) : 0) + received_.bytes(rank);
}

std::string JournalFolder::text(std::uint32_t rank) const {
  const std::string path = journal_path(folder_, rank);
  std::error_code none;
  const bool own = std::filesystem::exists(path, none);
  return joined(own ? OpenJournal(path).text() : std::string(), received_.lines(rank));
}

Journals read_journals(const std::string& folder) {
  const auto from = std::make_shared<const JournalFolder>(folder);
  std::vector<std::uint32_t> ranks = from->received().ranks();
  for (const auto& [rank, path] : journals_in(folder)) {
    const OpenJournal readable(path);  // what cannot be is said before the long work begins
    ranks.push_back(rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const std::size_t count = ranks.size();
  return {count,
          [from, ranks = std::move(ranks)](std::size_t i) { return from->text(ranks.at(i)); }};
}

}  // namespace tidemark::reports
