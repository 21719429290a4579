// Temporary, synced, renamed.
#include "reports/store/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>

#include "reports/base/disk.hpp"
#include "reports/base/error.hpp"
#include "reports/base/process_state.hpp"

namespace tidemark {
namespace {

std::string temporary_of(const std::string& target) { return target + ".tmp."; }

/// Also a zombie, which nobody has collected: the ranks of a killed mpirun wait for init.
bool has_ended(pid_t process) {
  if (::kill(process, 0) != 0) return errno == ESRCH;
  const std::optional<ProcessState> state = process_state(process);
  return state && state->dead();
}

/// Nobody writes it any more: its process is not there (on this machine), and nobody (on any) holds
/// it locked as a writer does.
bool is_left_behind(const std::string& path, std::string_view pid_text) {
  pid_t pid = 0;
  const auto [end, error] =
      std::from_chars(pid_text.data(), pid_text.data() + pid_text.size(), pid);
  if (error != std::errc() || end != pid_text.data() + pid_text.size() || pid <= 0) return false;
  if (pid != ::getpid() && !has_ended(pid)) return false;
  // For writing: NFS makes flock of locks that want it.
  const int opened = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (opened < 0) return false;
  struct stat status {};
  const bool free = ::fstat(opened, &status) == 0 && S_ISREG(status.st_mode) &&
                    status.st_uid == ::geteuid() && ::flock(opened, LOCK_EX | LOCK_NB) == 0;
  ::close(opened);
  return free;
}

void sync_folder_of(const std::string& path) {
  sync_folder(std::filesystem::path(path).parent_path().string());
}

}  // namespace

// Else each kill of a writer would leave one more.
void remove_left_behind(const std::string& target) {
  const std::filesystem::path path(target);
  const std::string start = temporary_of(path.filename().string());
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(start)) continue;
    const std::string_view pid = std::string_view(name).substr(start.size());
    if (!is_left_behind(at->path().string(), pid)) continue;
    // rename_new() may have taken the name by an empty file, and come no further.
    struct stat status {};
    if (::lstat(target.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 0)
      ::unlink(target.c_str());
    ::unlink(at->path().c_str());
  }
}

TemporaryFile::TemporaryFile(const std::string& target, std::string_view hint,
                             std::string_view option)
    : target_(target),
      path_(fmt::format("{}{}", temporary_of(target), ::getpid())),
      hint_(hint),
      option_(option) {
  if (std::error_code error; std::filesystem::is_directory(target, error)) {
    refuse(target, "is a folder", fmt::format("give the path of a file as {}", option_));
  }
  remove_left_behind(target);
  // Exclusive and never through a link: the name can be guessed.
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file_ < 0) {
    refuse(target_, fmt::format("cannot create {}: {}", path_, error_text(errno)),
           fmt::format("give {} in a folder that can be written",
                       option_ == "--out" ? "an --out" : "a file for " + option_));
  }
  ::flock(file_, LOCK_EX | LOCK_NB);  // says that it is being written
}

TemporaryFile::~TemporaryFile() {
  ::close(file_);
  if (!renamed_) ::unlink(path_.c_str());
}

void TemporaryFile::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      refuse(target_, fmt::format("cannot write: {}", error_text(written < 0 ? errno : ENOSPC)),
             hint_);
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  // A rename may be on disk before the data, and then the name holds nothing after a crash.
  if (::fsync(file_) != 0) {
    refuse(target_, fmt::format("cannot sync: {}", error_text(errno)), hint_);
  }
}

void TemporaryFile::rename() {
  if (std::rename(path_.c_str(), target_.c_str()) != 0) {
    refuse(target_, fmt::format("cannot rename {} to it: {}", path_, error_text(errno)),
           fmt::format("give another {}", option_));
  }
  renamed_ = true;
  sync_folder_of(target_);
}

void TemporaryFile::rename_new() {
  struct stat status {};
  const bool linked = ::link(path_.c_str(), target_.c_str()) == 0;
  const int why = errno;
  // NFS may have made a link whose answer was lost.
  if (linked || (::fstat(file_, &status) == 0 && status.st_nlink == 2))
    return sync_folder_of(target_);
  // Some file systems have no links (FAT, some of FUSE): there an empty file takes the name first.
  const int taken =
      why == EEXIST ? -1 : ::open(target_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (taken < 0) {
    refuse(target_, fmt::format("cannot be created: {}", error_text(errno)),
           fmt::format("give another {}", option_));
  }
  ::close(taken);
  try {
    rename();
  } catch (const ReportError&) {
    ::unlink(target_.c_str());
    throw;
  }
}

void replace_file(const std::string& path, std::string_view bytes, std::string_view option) {
  TemporaryFile file(path, fmt::format("free some space or give another {}", option), option);
  file.write(bytes);
  file.rename();
}

}  // namespace tidemark
