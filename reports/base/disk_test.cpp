// Work on a disk that may hang, or be away for a moment as a network file system is.
#include "reports/base/disk.hpp"

#include <unistd.h>

#include <gtest/gtest.h>
#include <filesystem>
#include <fstream>

#include "reports/base/scratch_folder.hpp"
#include "reports/testing/said.hpp"

namespace tidemark {
namespace {

TEST(Disk, OneThatHangsIsNamed) {
  const auto answer = std::make_shared<std::promise<void>>();
  const std::shared_future<void> answered = answer->get_future().share();
  EXPECT_TRUE(error_from([&] {
                on_disk("/fleet/r.h5", 0.05, [answered] { answered.wait(); });
              }).starts_with("/fleet/r.h5: the disk has not answered"));
  answer->set_value();
}

TEST(Disk, OneThatIsAwayForAMomentIsTriedAgain) {
  const auto tries = std::make_shared<int>(0);
  const auto work = [tries] {
    if (++*tries < 2) refuse("r.h5", "Stale file handle", "");
    return *tries;
  };
  EXPECT_EQ(on_disk(
                "r.h5", kDiskSeconds, work, [] {}, kDiskTries),
            2);
  EXPECT_THROW(on_disk("r.h5", kDiskSeconds, [] { refuse("r.h5", "Stale", ""); }), ReportError);
}

TEST(Disk, WhatCannotBeSeenIsNotAbsent) {
  const ScratchFolder scratch;
  EXPECT_FALSE(is_there(scratch.file("none")));
  EXPECT_TRUE(is_there(scratch.path()));
  std::filesystem::create_symlink("loop", scratch.file("loop"));
  EXPECT_THROW(is_there(scratch.file("loop")), ReportError);
}

TEST(Disk, AFileThatIsTooLongIsNotRead) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("x")) << "x";
  EXPECT_EQ(file_text(scratch.file("x"), 1, "x", "read it"), "x");
  ASSERT_EQ(::truncate(scratch.file("x").c_str(), off_t{100} << 30), 0);
  EXPECT_THROW(file_text(scratch.file("x"), std::size_t{1} << 30, "x", "read it"), ReportError);
}

}  // namespace

}  // namespace tidemark
