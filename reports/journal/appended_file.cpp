// One write after the other, each of all lines that are there.
#include "reports/journal/appended_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <thread>
#include <utility>

#include "reports/base/disk.hpp"

namespace tidemark::reports {

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
  Written made{.bytes = static_cast<std::size_t>(written), .refusal = {}};
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

}  // namespace tidemark::reports
