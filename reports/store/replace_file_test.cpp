// A file is replaced in one step or not at all.
#include "reports/store/replace_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::size_t files_in(const ScratchFolder& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder.path()),
                                                std::filesystem::directory_iterator()));
}

TEST(ReplaceFile, WritesAllAndLeavesNothingElse) {
  const ScratchFolder folder;
  replace_file(folder.file("x.prom"), "old\n");
  replace_file(folder.file("x.prom"), "new\n");
  EXPECT_EQ(content_of(folder.file("x.prom")), "new\n");
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(ReplaceFile, AWriteThatFailsLeavesTheOldFileAlone) {
  const ScratchFolder folder;
  replace_file(folder.file("x.prom"), "old\n");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{.rlim_cur = 100, .rlim_max = before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(replace_file(folder.file("x.prom"), std::string(1000, 'x')), ReportError);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(content_of(folder.file("x.prom")), "old\n");
  EXPECT_EQ(files_in(folder), 1U);
}

/// The id of a process that is over.
pid_t dead_process() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

TEST(ReplaceFile, WhatAKilledWriterOfTheSameFileLeftIsRemoved) {
  const ScratchFolder folder;
  std::ofstream(folder.file("x.h5.tmp." + std::to_string(dead_process()))) << "half";
  std::ofstream(folder.file("x.h5.tmp." + std::to_string(::getpid()))) << "of an older container";
  replace_file(folder.file("x.h5"), "new\n");
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(ReplaceFile, WhatAKilledWriterLeftIsRemovedBeforeItsParentHasCollectedIt) {
  const ScratchFolder folder;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  std::ofstream(folder.file("x.h5.tmp." + std::to_string(child))) << "half";
  replace_file(folder.file("x.h5"), "new\n");
  ::waitpid(child, nullptr, 0);
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(ReplaceFile, TheNameThatAKilledWriterHadTakenIsFreeAgain) {
  const ScratchFolder folder;
  std::ofstream(folder.file("x.h5.tmp." + std::to_string(dead_process()))) << "whole";
  std::ofstream(folder.file("x.h5"));
  remove_left_behind(folder.file("x.h5"));
  EXPECT_EQ(files_in(folder), 0U);
}

TEST(ReplaceFile, AFileOfThisNameStaysWhereItIsNotEmptyOrNoWriterWasKilled) {
  const ScratchFolder folder;
  std::ofstream(folder.file("x.h5.tmp." + std::to_string(dead_process()))) << "whole";
  std::ofstream(folder.file("x.h5")) << "of a person";
  std::ofstream(folder.file("y.h5"));
  remove_left_behind(folder.file("x.h5"));
  remove_left_behind(folder.file("y.h5"));
  EXPECT_EQ(files_in(folder), 2U);
}

TEST(ReplaceFile, WhatIsNotALeftoverOfTheSameFileStays) {
  const ScratchFolder folder;
  const std::string dead = std::to_string(dead_process()), live = std::to_string(::getppid());
  std::ofstream(folder.file("y.h5.tmp." + dead)) << "of another file";
  std::ofstream(folder.file("x.h5.tmp." + live)) << "of a process that is there";
  std::ofstream(folder.file("x.h5.tmp.mine")) << "of a person";
  std::filesystem::create_directory(folder.file("x.h5.tmp." + dead));
  replace_file(folder.file("x.h5"), "new\n");
  EXPECT_EQ(files_in(folder), 5U);
}

TEST(ReplaceFile, WhatSomebodyHoldsLockedStays) {
  const ScratchFolder folder;
  const std::string other = folder.file("x.h5.tmp." + std::to_string(dead_process()));
  std::ofstream(other) << "of another machine";
  const int opened = ::open(other.c_str(), O_RDONLY);
  ASSERT_EQ(::flock(opened, LOCK_EX), 0);
  replace_file(folder.file("x.h5"), "new\n");
  ::close(opened);
  EXPECT_TRUE(std::filesystem::exists(other));
}

TEST(ReplaceFile, ANewFileTakesAFreeName) {
  const ScratchFolder folder;
  {
    TemporaryFile file(folder.file("x.h5"), "");
    file.write("new\n");
    file.rename_new();
  }
  EXPECT_EQ(content_of(folder.file("x.h5")), "new\n");
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(ReplaceFile, ANewFileLeavesOneThatAppearedMeanwhile) {
  const ScratchFolder folder;
  {
    TemporaryFile file(folder.file("x.h5"), "");
    file.write("new\n");
    std::ofstream(folder.file("x.h5")) << "of another program";
    EXPECT_THROW(file.rename_new(), ReportError);
  }
  EXPECT_EQ(content_of(folder.file("x.h5")), "of another program");
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(ReplaceFile, ANameThatWasGivenBeforeTheAnswerWasLostIsGiven) {
  const ScratchFolder folder;
  TemporaryFile file(folder.file("x.h5"), "");
  ASSERT_EQ(::link(file.path().c_str(), folder.file("x.h5").c_str()), 0);
  EXPECT_NO_THROW(file.rename_new());
}

/// From here on link() fails in this process, as on a file system without links.
bool refuse_links() {
#ifdef SYS_link
  constexpr auto kLink = SYS_link;
#else
  constexpr auto kLink = SYS_linkat;
#endif
  std::array<sock_filter, 4> filter = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kLink, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{.len = filter.size(), .filter = filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// 0 where a new file gets its name; 2 where it is refused.
int exit_of_new_file_without_links(const std::string& path) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!refuse_links()) ::_exit(3);
    TemporaryFile file(path, "");
    try {
      file.write("new\n");
      file.rename_new();
    } catch (const ReportError&) {
      ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

TEST(ReplaceFile, WithoutLinksANewFileTakesAFreeName) {
  const ScratchFolder folder;
  EXPECT_EQ(exit_of_new_file_without_links(folder.file("x.h5")), 0);
  EXPECT_EQ(content_of(folder.file("x.h5")), "new\n");
}

TEST(ReplaceFile, WithoutLinksANewFileLeavesOneThatIsThere) {
  const ScratchFolder folder;
  std::ofstream(folder.file("x.h5")) << "of another program";
  EXPECT_EQ(exit_of_new_file_without_links(folder.file("x.h5")), 2);
  EXPECT_EQ(content_of(folder.file("x.h5")), "of another program");
}

TEST(ReplaceFile, AFolderThatIsNotThereAndOneInItsPlaceAreRefused) {
  const ScratchFolder folder;
  EXPECT_THROW(replace_file(folder.file("none/x.prom"), "x"), ReportError);
  std::filesystem::create_directory(folder.file("is_folder"));
  EXPECT_THROW(replace_file(folder.file("is_folder"), "x"), ReportError);
  EXPECT_EQ(files_in(folder), 1U);
}

}  // namespace
}  // namespace tidemark
