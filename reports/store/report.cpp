// Report files: written so that a name never holds half a report, read without following anything.
#include "reports/store/report.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "reports/base/disk.hpp"
#include "reports/store/confined/confined_reader.hpp"
#include "reports/store/hdf5/image.hpp"
#include "reports/store/replace_file.hpp"

namespace tidemark::reports {
namespace {

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

}  // namespace

std::string bytes_of(const Report& report, const std::string& path) {
  check_references(report, path);
  std::string image = image_of(report, path);
  // Our own bytes are read in this process: it may be one that MPI forbids to fork.
  if (!same_rows(report, report_of(image, path)))
    refuse(path, "its bytes read back differently", "report this bug; journals are kept");
  return image;
}

void write_bytes(const std::string& image, const std::string& path, NameInUse in_use) {
  TemporaryFile file(path, "free some space or give another --out; journals are kept");
  file.write(image);
  if (file_text(file.path(), image.size(), path, "check the disk; journals are kept") != image)
    refuse(path, "what was written reads back differently", "check the disk; journals are kept");
  in_use == NameInUse::refuse ? file.rename_new() : file.rename();
}

void write_report(const Report& report, const std::string& path, NameInUse in_use) {
  write_bytes(bytes_of(report, path), path, in_use);
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

}  // namespace tidemark::reports
