// A file is replaced in one step or not at all.
#include "reports/store/replace_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "reports/error.hpp"
#include "reports/scratch_folder.hpp"

namespace tidemark::reports {
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

TEST(ReplaceFile, AFolderThatIsNotThereAndOneInItsPlaceAreRefused) {
  const ScratchFolder folder;
  EXPECT_THROW(replace_file(folder.file("none/x.prom"), "x"), ReportError);
  std::filesystem::create_directory(folder.file("is_folder"));
  EXPECT_THROW(replace_file(folder.file("is_folder"), "x"), ReportError);
  EXPECT_EQ(files_in(folder), 1U);
}

}  // namespace
}  // namespace tidemark::reports
