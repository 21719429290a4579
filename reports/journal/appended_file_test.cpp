// Files on disks that take nothing: a pipe that nobody reads is one that hangs.
#include "reports/journal/appended_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>

#include "reports/base/scratch_folder.hpp"

namespace tidemark::reports {
namespace {

/// A pipe that is full: a write to it hangs until some of it is read.
class HungDisk {
 public:
  HungDisk() {
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0);
    EXPECT_EQ(::fcntl(ends_[1], F_SETPIPE_SZ, 4096), 4096);
    const std::string page(4096, 'x');
    EXPECT_EQ(::write(ends_[1], page.data(), page.size()), 4096);
  }
  HungDisk(const HungDisk&) = delete;
  HungDisk& operator=(const HungDisk&) = delete;
  ~HungDisk() { ::close(ends_[0]); }

  int fd() const { return ends_[1]; }  // goes to the file
  void answer() const {
    std::string all(4096, '\0');
    EXPECT_EQ(::read(ends_[0], all.data(), all.size()), 4096);
  }

 private:
  std::array<int, 2> ends_{};
};

TEST(AppendedFile, ADiskThatHangsHoldsNobodyAndCostsNoLine) {
  const HungDisk disk;
  AppendedFile file("journal", disk.fd(), AppendedFile::kMostKept);
  file.append("one\n", false);
  file.append("two\n", false);
  EXPECT_EQ(file.text(), "one\ntwo\n");
  EXPECT_EQ(file.unwritten(), 8U);
  EXPECT_FALSE(file.flush(0.05));
  disk.answer();
  EXPECT_TRUE(file.flush(60));
}

TEST(AppendedFile, OfADiskThatRefusesIsSaidOnceWhy) {
  AppendedFile file("journal", ::open("/dev/full", O_WRONLY | O_CLOEXEC), AppendedFile::kMostKept);
  file.append("one\n", true);
  EXPECT_NE(file.trouble().find("journal: cannot write: No space left"), std::string::npos);
  file.append("two\n", true);
  EXPECT_EQ(file.trouble(), "");
  EXPECT_EQ(file.text(), "one\ntwo\n");
}

TEST(AppendedFile, OfAFileThatIsRemovedIsSaidOnceAndItsLinesStay) {
  const ScratchFolder scratch;
  AppendedFile file(scratch.file("x"), -1, AppendedFile::kMostKept);
  file.append("one\n", true);
  ASSERT_TRUE(file.flush(60));
  std::filesystem::remove(scratch.file("x"));
  file.append("two\n", true);
  EXPECT_FALSE(file.flush(0.05));
  EXPECT_NE(file.trouble().find("x: was removed"), std::string::npos);
  EXPECT_EQ(file.trouble(), "");
  EXPECT_EQ(file.text(), "one\ntwo\n");
  EXPECT_EQ(file.unwritten(), 4U);
}

TEST(AppendedFile, BeyondItsMemoryTheFileIsTheOnlyCopy) {
  const ScratchFolder scratch;
  AppendedFile file(scratch.file("x"), -1, 8);
  file.append("one\ntwo\n", false);
  EXPECT_FALSE(file.outgrown());
  file.append("three\n", false);
  EXPECT_TRUE(file.outgrown());
  EXPECT_NE(file.trouble().find("in this file alone"), std::string::npos);
  EXPECT_EQ(file.trouble(), "");
  ASSERT_TRUE(file.flush(60));
  EXPECT_EQ(file.text(), "one\ntwo\n");
}

}  // namespace
}  // namespace tidemark::reports
