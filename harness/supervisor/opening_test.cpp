// Where a report can and cannot go.
#include "harness/supervisor/opening.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/errors.hpp"
#include "reports/scratch_folder.hpp"

namespace tidemark::harness {
namespace {

TEST(CheckOutput, accepts_a_new_name_and_leaves_nothing_behind) {
  const ScratchFolder folder;
  check_output(folder.file("a.h5"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CheckOutput, refuses_a_report_that_exists) {
  const ScratchFolder folder;
  std::ofstream(folder.file("a.h5")) << "x";
  EXPECT_THROW(check_output(folder.file("a.h5")), UsageError);
}

TEST(CheckOutput, refuses_the_name_of_journals_that_are_still_there) {
  const ScratchFolder folder;
  std::filesystem::create_directory(folder.file("a.h5.run"));
  try {
    check_output(folder.file("a.h5"));
    FAIL() << "accepted";
  } catch (const UsageError& refused) {
    EXPECT_NE(std::string(refused.what()).find("tidemark recover"), std::string::npos);
  }
}

TEST(CheckOutput, refuses_a_link_to_nowhere) {
  const ScratchFolder folder;
  std::filesystem::create_symlink("/no/such/file", folder.file("a.h5"));
  EXPECT_THROW(check_output(folder.file("a.h5")), UsageError);
}

TEST(CheckOutput, refuses_a_name_that_is_too_long_for_any_of_its_files) {
  const ScratchFolder folder;
  EXPECT_THROW(check_output(folder.file(std::string(300, 'a'))), UsageError);
  EXPECT_THROW(check_output(folder.file(std::string(250, 'a'))), UsageError);  // .tmp.<pid>
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CheckOutput, refuses_a_name_that_is_no_utf_8) {
  const ScratchFolder folder;
  EXPECT_THROW(check_output(folder.file("a\xff.h5")), UsageError);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(CheckOutput, refuses_a_folder_that_does_not_exist) {
  const ScratchFolder folder;
  EXPECT_THROW(check_output(folder.file("no/a.h5")), UsageError);
}

TEST(CheckOutput, refuses_a_place_where_nothing_can_be_made) {
  EXPECT_THROW(check_output("/proc/a.h5"), UsageError);
}

}  // namespace
}  // namespace tidemark::harness
