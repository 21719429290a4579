// The journal of a rank: the file that grows by a line, and the lines that were received.
#include "reports/journal/journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "reports/base/disk.hpp"

namespace tidemark {

// One write after the other, each of all lines that are there.

struct AppendedFile::Opened {
  explicit Opened(int opened) : fd(opened) {}
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() {
    // A network file system writes back what is not synced when it is closed, and may hang.
    if (fd >= 0) aside([fd = fd] { ::close(fd); }).wait_for(std::chrono::seconds(1));
  }
  int fd;
};

AppendedFile::Written AppendedFile::write(Opened& file, const std::string& path,
                                          const std::string& bytes, bool sync) {
  if (file.fd < 0)
    file.fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  // Some file systems count no links, so its name is looked for, too.
  struct stat status {};
  if (file.fd >= 0 && ::fstat(file.fd, &status) == 0 && status.st_nlink == 0 &&
      ::access(path.c_str(), F_OK) != 0)
    return {.bytes = 0, .refusal = "was removed; let the files of a launch be until it ends"};
  const ssize_t written = file.fd < 0 ? -1 : ::write(file.fd, bytes.data(), bytes.size());
  if (written < 0 && errno == EINTR) return {};
  if (written < 0)
    return {.bytes = 0,
            .refusal = fmt::format("cannot write: {}; free some space, or check the disk",
                                   error_text(errno))};
  Written made{.bytes = static_cast<std::size_t>(written)};
  if (sync && made.bytes == bytes.size() && ::fdatasync(file.fd) != 0)
    made.refusal = fmt::format("cannot sync: {}; check the disk", error_text(errno));
  return made;
}

AppendedFile::AppendedFile(std::string path, int fd, std::size_t most_kept)
    : path_(std::move(path)), most_kept_(most_kept), file_(std::make_shared<Opened>(fd)) {}

void AppendedFile::step(double most_s) {
  constexpr std::chrono::seconds kAgain(1);
  while (!unwritten_.empty()) {
    if (!writing_.valid()) {
      if (!error_.empty() && std::chrono::steady_clock::now() < began_ + kAgain) return;
      began_ = std::chrono::steady_clock::now();
      under_way_ = unwritten_.size() - in_file_;
      writing_ = aside([file = file_, path = path_, bytes = unwritten_.substr(in_file_),
                        sync = sync_] { return write(*file, path, bytes, sync); });
    }
    if (writing_.wait_for(std::chrono::duration<double>(most_s)) != std::future_status::ready)
      return;
    Written written = writing_.get();
    in_file_ += written.bytes;
    if (written.bytes == under_way_) unwritten_.erase(0, std::exchange(in_file_, 0));
    error_ = std::move(written.refusal);
    said_ = said_ && !(error_.empty() && unwritten_.empty());
    sync_ = sync_ && !unwritten_.empty();
  }
}

void AppendedFile::append(std::string_view lines, bool sync) {
  const bool behind = !unwritten_.empty();
  outgrown_ = outgrown_ || kept_.size() + lines.size() > most_kept_;
  if (!outgrown_) kept_ += lines;
  unwritten_ += lines;
  sync_ = sync_ || sync;
  if (!writing_.valid()) began_ = {};  // now
  step(behind ? 0 : 1);
}

bool AppendedFile::flush(double seconds) {
  constexpr double kTurn = 0.01;
  for (double waited = 0; !unwritten_.empty() && waited < seconds; waited += kTurn) {
    step(kTurn);
    if (!writing_.valid() && !unwritten_.empty())
      std::this_thread::sleep_for(std::chrono::duration<double>(kTurn));
  }
  return unwritten_.empty();
}

void AppendedFile::remove() {
  step(0);
  remove_on_disk({path_}, writing_.valid() ? -1 : std::exchange(file_->fd, -1));
}

std::string AppendedFile::trouble() {
  constexpr std::chrono::seconds kHung(30);
  step(0);
  std::string text = error_;
  if (writing_.valid() && std::chrono::steady_clock::now() - began_ > kHung)
    text = fmt::format("the disk has not answered for {} s; check its file system", kHung.count());
  if (!text.empty() && !std::exchange(said_, true)) return fmt::format("{}: {}", path_, text);
  if (outgrown_ && most_kept_ > 0 && !std::exchange(said_outgrown_, true))
    return fmt::format("{}: longer than {} MiB; what comes now is in this file alone", path_,
                       most_kept_ >> 20);
  return {};
}

// Sorts received lines by the rank in each.

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

// Appends journal lines, and reads those of others.

namespace {

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
  std::ranges::sort(found);
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
  sync_folder(folder);             // the new name is durable only once the folder is
  return fd;
}

}  // namespace

std::string journal_path(const std::string& folder, std::uint32_t rank) {
  return fmt::format("{}/rank-{:05}.jsonl", folder, rank);
}

JournalWriter::JournalWriter(const std::string& folder, std::uint32_t rank, std::size_t most_kept)
    : path_(journal_path(folder, rank)),
      next_{.rank = rank},
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
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  const std::size_t count = ranks.size();
  return {count,
          [from, ranks = std::move(ranks)](std::size_t i) { return from->text(ranks.at(i)); }};
}

}  // namespace tidemark
