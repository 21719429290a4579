// A file that grows by whole lines, written aside: a disk that hangs holds nobody.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>

namespace tidemark::reports {

/// Lines are in memory until the disk has taken them. What it refuses is tried again with the next
/// lines, and each second in which this is looked at. For one thread.
class AppendedFile {
 public:
  static constexpr std::size_t kMostKept = std::size_t{64} << 20;  // bytes

  /// Takes `fd`; of -1 the first lines make the file. Of its text up to `most_kept` bytes stay in
  /// memory.
  AppendedFile(std::string path, int fd, std::size_t most_kept);
  AppendedFile(AppendedFile&&) = default;
  AppendedFile& operator=(AppendedFile&&) = default;
  ~AppendedFile() {
    if (file_) flush(1);
  }

  /// Waits at most a second until the disk has them, and not at all where it is behind.
  void append(std::string_view lines, bool sync);
  /// Waits until the disk has all. False where it has not after so long.
  bool flush(double seconds);
  /// Closes the file and then removes it: NFS keeps one that is open under another name, and the
  /// folder with it. No line comes after this.
  void remove();
  std::size_t unwritten() const { return unwritten_.size(); }  // bytes
  /// What is in memory; all of it unless outgrown().
  std::string text() const { return outgrown_ ? kept_ + unwritten_ : kept_; }
  bool outgrown() const { return outgrown_; }
  /// What is wrong with the disk, in one line, once until that is over; empty where nothing is.
  std::string trouble();

 private:
  struct Opened;
  struct Written {
    std::size_t bytes = 0;
    std::string refusal;
  };

  static Written write(Opened& file, const std::string& path, const std::string& bytes, bool sync);
  void step(double most_s);

  std::string path_;
  std::size_t most_kept_;
  std::shared_ptr<Opened> file_;
  std::string kept_, unwritten_;
  std::size_t in_file_ = 0;       // bytes of unwritten_: a line that is torn is completed
  std::future<Written> writing_;  // of all of unwritten_ that was there
  std::size_t under_way_ = 0;     // bytes
  std::chrono::steady_clock::time_point began_;
  std::string error_;  // of the last try
  bool sync_ = false, outgrown_ = false, said_ = false, said_outgrown_ = false;
};

}  // namespace tidemark::reports
