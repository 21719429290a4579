// Writes a file so that its name never holds half of it: a temporary file in the same folder, which
// is synced and then renamed.
#pragma once

#include <string>
#include <string_view>

namespace tidemark {

/// Owns a file "<target>.tmp.<pid>" that is removed unless it gets its last name; those of the same
/// target that killed processes left are removed first. Everything throws
/// ReportError with one line that begins with the target's path.
class TemporaryFile {
 public:
  /// `hint`: what to do when there is no room. `option`: the one that names the target.
  TemporaryFile(const std::string& target, std::string_view hint,
                std::string_view option = "--out");
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::string& path() const { return path_; }

  /// All of it, synced.
  void write(std::string_view bytes);

  /// Gives it its last name, and syncs the folder. A file that has this name is replaced.
  void rename();

  /// The same where no file has this name, however late it appears: else it throws.
  void rename_new();

 private:
  std::string target_, path_, hint_, option_;
  int file_ = -1;
  bool renamed_ = false;
};

/// Removes the temporary files of `target` that processes left which are gone, and with one of them
/// `target` itself where it is empty. What cannot be removed stays.
void remove_left_behind(const std::string& target);

/// Writes `path` in one step: readers see the old file or all of the new one. Throws ReportError,
/// and leaves the old file as it was.
void replace_file(const std::string& path, std::string_view bytes,
                  std::string_view option = "--out");

}  // namespace tidemark
