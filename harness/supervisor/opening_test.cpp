// Where a report can and cannot go.
#include "harness/supervisor/opening.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "harness/errors.hpp"

namespace tidemark {
namespace {

/// A folder of this test alone, gone at its end.
class Folder {
 public:
  Folder() {
    std::string name = "/tmp/tidemark-opening-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

TEST(CheckOutput, accepts_a_new_name_and_leaves_nothing_behind) {
  const Folder folder;
  check_output(folder / "a.h5");
  EXPECT_TRUE(std::filesystem::is_empty(folder / "."));
}

TEST(CheckOutput, refuses_a_report_that_exists) {
  const Folder folder;
  std::ofstream(folder / "a.h5") << "x";
  EXPECT_THROW(check_output(folder / "a.h5"), UsageError);
}

TEST(CheckOutput, refuses_the_name_of_journals_that_are_still_there) {
  const Folder folder;
  std::filesystem::create_directory(folder / "a.h5.run");
  try {
    check_output(folder / "a.h5");
    FAIL() << "accepted";
  } catch (const UsageError& refused) {
    EXPECT_NE(std::string(refused.what()).find("tidemark recover"), std::string::npos);
  }
}

TEST(CheckOutput, refuses_a_link_to_nowhere) {
  const Folder folder;
  std::filesystem::create_symlink("/no/such/file", folder / "a.h5");
  EXPECT_THROW(check_output(folder / "a.h5"), UsageError);
}

TEST(CheckOutput, refuses_a_name_that_is_too_long_for_any_of_its_files) {
  const Folder folder;
  EXPECT_THROW(check_output(folder / std::string(300, 'a').c_str()), UsageError);
  EXPECT_THROW(check_output(folder / std::string(250, 'a').c_str()), UsageError);  // .tmp.<pid>
  EXPECT_TRUE(std::filesystem::is_empty(folder / "."));
}

TEST(CheckOutput, refuses_a_name_that_is_no_utf_8) {
  const Folder folder;
  EXPECT_THROW(check_output(folder / "a\xff.h5"), UsageError);
  EXPECT_TRUE(std::filesystem::is_empty(folder / "."));
}

TEST(CheckOutput, refuses_a_folder_that_does_not_exist) {
  const Folder folder;
  EXPECT_THROW(check_output(folder / "no/a.h5"), UsageError);
}

TEST(CheckOutput, refuses_a_place_where_nothing_can_be_made) {
  EXPECT_THROW(check_output("/proc/a.h5"), UsageError);
}

}  // namespace
}  // namespace tidemark
