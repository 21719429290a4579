// Temporary, synced, renamed.
#include "reports/store/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "reports/error.hpp"

namespace tidemark {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what, std::string_view hint) {
  throw ReportError(fmt::format("{}: {}; {}", path.empty() ? "''" : path, what, hint));
}

std::string error_text(int error) { return std::generic_category().message(error); }

void sync_folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const int opened =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  // Some network file systems cannot sync a folder; the file is whole either way.
  ::fsync(opened);
  ::close(opened);
}

}  // namespace

TemporaryFile::TemporaryFile(const std::string& target, std::string_view hint)
    : target_(target), path_(fmt::format("{}.tmp.{}", target, ::getpid())), hint_(hint) {
  if (std::error_code error; std::filesystem::is_directory(target, error)) {
    refuse(target, "is a folder", "give the path of a file as --out");
  }
  // Exclusive and never through a link: the name can be guessed.
  file_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file_ < 0) {
    refuse(target_, fmt::format("cannot create {}: {}", path_, error_text(errno)),
           "give an --out in a folder that can be written");
  }
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
           "give another --out");
  }
  renamed_ = true;
  sync_folder_of(target_);
}

void replace_file(const std::string& path, std::string_view bytes) {
  TemporaryFile file(path, "free some space or give another --out");
  file.write(bytes);
  file.rename();
}

}  // namespace tidemark
