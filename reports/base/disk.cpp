// Work on a disk that may hang, or be away for a moment as a network file system is.
#include "reports/base/disk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <sys/stat.h>
#include <array>
#include <cerrno>
#include <filesystem>

namespace tidemark {

bool is_there(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none)
    refuse(path, fmt::format("cannot be looked at: {}", error.message()),
           "check the disk, and the rights of its folder");
  return std::filesystem::exists(status);
}

std::string file_text(const std::string& path, std::size_t most, const std::string& name,
                      std::string_view hint, bool to_hole) {
  std::string text, trouble, unfit;
  const std::string too_long = fmt::format("has more than {} bytes", most);
  const auto failed = [] { return "cannot be read: " + error_text(errno); };
  const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  struct stat status {};
  if (fd < 0 || ::fstat(fd, &status) != 0) {
    trouble = failed();
  } else if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    unfit = "is no plain file";
  } else if (!to_hole && static_cast<std::size_t>(status.st_size) > most) {
    unfit = too_long;
  }
  std::array<char, 65536> bytes{};
  while (trouble.empty() && unfit.empty()) {
    const ssize_t got = ::read(fd, bytes.data(), bytes.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) trouble = failed();
    if (got <= 0) break;
    const std::string_view read(bytes.data(), static_cast<std::size_t>(got));
    if (to_hole && read.find_first_not_of('\0') == read.npos) break;
    text += read;
    if (text.size() > most) unfit = too_long;
  }
  if (fd >= 0) ::close(fd);
  if (!unfit.empty()) throw UnfitFile(fmt::format("{}: {}; {}", name, unfit, hint));
  if (!trouble.empty()) refuse(name, trouble, hint);
  return text;
}

void sync_folder(const std::string& path) {
  const int opened = ::open(path.empty() ? "." : path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  ::fsync(opened);
  ::close(opened);
}

void remove_on_disk(const std::vector<std::string>& paths, int open) {
  try {
    on_disk(paths.back(), kDiskSecondsAtEnd, [paths, open] {
      if (open >= 0) ::close(open);
      std::error_code ignored;
      for (const std::string& path : paths) std::filesystem::remove(path, ignored);
    });
  } catch (const ReportError&) {
    // It hangs.
  }
}

}  // namespace tidemark
