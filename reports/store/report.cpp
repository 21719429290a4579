// Report files: written so that a name never holds half a report, read without following anything.
#include "reports/store/report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "reports/store/confined_reader.hpp"
#include "reports/store/image.hpp"

namespace tidemark {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what, std::string_view hint) {
  // An empty path would leave a line that begins with nothing.
  throw ReportError(fmt::format("{}: {}; {}", path.empty() ? "''" : path, what, hint));
}

std::string error_text(int error) { return std::generic_category().message(error); }

constexpr std::string_view kWritable = "free some space or give another --out; journals are kept";

/// Owns an open file.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// Owns a file that is removed unless it gets its last name.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : target_(target),
        path_(fmt::format("{}.tmp.{}", target, ::getpid())),
        // Exclusive and never through a link: the name can be guessed.
        file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644)) {
    if (file_.get() < 0) {
      refuse(target_, fmt::format("cannot create {}: {}", path_, error_text(errno)),
             "give an --out in a folder that can be written");
    }
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!renamed_) ::unlink(path_.c_str());
  }

  const std::string& path() const { return path_; }

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) {
        refuse(target_, fmt::format("cannot write: {}", error_text(written < 0 ? errno : ENOSPC)),
               kWritable);
      }
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    // A rename may be on disk before the data, and then the name holds nothing after a crash.
    if (::fsync(file_.get()) != 0) {
      refuse(target_, fmt::format("cannot sync: {}", error_text(errno)), kWritable);
    }
  }

  void rename() {
    if (std::rename(path_.c_str(), target_.c_str()) != 0) {
      refuse(target_, fmt::format("cannot rename {} to it: {}", path_, error_text(errno)),
             "give another --out");
    }
    renamed_ = true;
  }

 private:
  std::string target_, path_;
  Descriptor file_;
  bool renamed_ = false;
};

void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const Descriptor opened(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some network file systems cannot sync a folder; the report is whole either way.
  if (opened.get() >= 0) ::fsync(opened.get());
}

constexpr std::string_view kGiveReport = "give the path of a report, such as report.h5";

/// Opens a file that may be a report, and says how large it is.
Descriptor open_report(const std::string& path, std::uint64_t& bytes) {
  // Non-blocking: a pipe of this name would hold open() for ever.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) {
    refuse(path, error_text(errno), kGiveReport);
  }
  if (S_ISDIR(status.st_mode)) {
    refuse(path, "is a folder",
           "give the report itself, or a folder <report>.h5.run to 'tidemark recover'");
  }
  if (!S_ISREG(status.st_mode)) refuse(path, "is not a regular file", kGiveReport);
  if (status.st_size == 0) {
    // Files of /proc and /sys say no size and hold text all the same.
    char first = 0;
    if (::read(file.get(), &first, 1) > 0) {
      refuse(path, "is a file of the system, not a report", kGiveReport);
    }
    refuse(path, "is empty",
           "its launch wrote no report; make it from its journals by 'tidemark recover'");
  }
  bytes = static_cast<std::uint64_t>(status.st_size);
  if (bytes > kMostFileBytes) {
    refuse(path, fmt::format("has {} bytes; no report is larger than {}", bytes, kMostFileBytes),
           kGiveReport);
  }
  return file;
}

std::string read_all(int file, std::uint64_t bytes, const std::string& path) {
  std::string image(bytes, '\0');
  for (std::size_t at = 0; at < image.size();) {
    const ssize_t got = ::read(file, image.data() + at, image.size() - at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, error_text(errno), "check the disk");
    if (got == 0) refuse(path, "became shorter while it was read", "read it again");
    at += static_cast<std::size_t>(got);
  }
  return image;
}

bool holds(const std::string& path, const std::string& image) {
  std::uint64_t bytes = 0;
  const Descriptor file = open_report(path, bytes);
  return bytes == image.size() && read_all(file.get(), bytes, path) == image;
}

}  // namespace

void write_report(const Report& report, const std::string& path) {
  check_references(report, path);
  if (std::error_code error; std::filesystem::is_directory(path, error)) {
    refuse(path, "is a folder", "give the path of a file as --out");
  }
  TemporaryFile file(path);
  std::string image = image_of(report, path);
  file.write(image);
  // Our own bytes are read in this process: it may be one that MPI forbids to fork.
  if (!holds(file.path(), image) || !same_rows(report, report_of(std::move(image), path))) {
    refuse(path, "what was written reads back differently", "check the disk; journals are kept");
  }
  file.rename();
  sync_folder_of(path);
}

Report read_own_report(const std::string& path) {
  std::uint64_t bytes = 0;
  const Descriptor file = open_report(path, bytes);
  return report_of(read_all(file.get(), bytes, path), path);
}

std::string_view note_of(Protection protection) {
  if (protection == Protection::filter) return {};
  return "note: no seccomp here; a report is read under limits of memory, time and open files "
         "alone";
}

Report read_report(const std::string& path, Protection& protection) {
  std::uint64_t bytes = 0;
  const Descriptor file = open_report(path, bytes);
  const ReadFrom read = [&path, bytes](int opened, const RowSink& sink) {
    stream_report(read_all(opened, bytes, path), path, sink);
  };
  return read_confined(path, file.get(), limits_of(bytes), read, protection);
}

Report read_report(const std::string& path) {
  Protection unasked{};
  return read_report(path, unasked);
}

}  // namespace tidemark
