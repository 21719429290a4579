// cmake --install of this build: what lies where, and that it runs from there.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"

namespace tidemark {
namespace {

namespace fs = std::filesystem;

/// All that is installed has this component. Named, it has a manifest of its own: the build's
/// install_manifest.txt is that of the user's installation, and root may own it.
constexpr const char* kComponent = "Unspecified";

Ran install_to(const std::string& prefix, const Environment& environment = {}) {
  return run_program(
      {TIDEMARK_CMAKE, "--install", TIDEMARK_BUILD, "--component", kComponent, "--prefix", prefix},
      environment);
}

TEST(Install, the_program_runs_from_another_folder) {
  const ScratchFolder folder;
  const std::string prefix = folder.file("prefix");
  ASSERT_EQ(install_to(prefix).exit, 0);
  const Ran ran = run_program({"sh", "-c",
                               "cd / && exec tidemark run --device virtual --gpus 2 --cases "
                               "zfill.side --out \"$0\"",
                               folder.file("x.h5")},
                              {{"PATH", prefix + "/bin:/usr/bin:/bin"}});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_TRUE(fs::exists(folder.file("x.h5")));
}

TEST(Install, the_nightly_script_finds_the_program_beside_it) {
  const ScratchFolder folder;
  const std::string prefix = folder.file("prefix");
  ASSERT_EQ(install_to(prefix).exit, 0);
  const Ran ran = run_program({prefix + "/bin/tidemark-nightly", "--store", folder.file("store"),
                               "--level", "quick", "--device", "virtual", "--launches", "1", "--",
                               "--gpus", "1", "--cases", "zfill.side"});
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_TRUE(fs::exists(folder.file("store/latest/launch-1.h5")));
}

TEST(Install, manual_completion_and_license_lie_where_they_are_looked_for) {
  const ScratchFolder folder;
  const std::string prefix = folder.file("prefix");
  ASSERT_EQ(install_to(prefix).exit, 0);
  EXPECT_TRUE(fs::exists(prefix + "/share/man/man1/tidemark.1"));
  EXPECT_TRUE(fs::exists(prefix + "/share/bash-completion/completions/tidemark"));
  EXPECT_TRUE(fs::exists(prefix + "/share/doc/tidemark/LICENSE"));
}

TEST(Install, leaves_the_manifest_of_an_earlier_installation) {
  const ScratchFolder folder;
  const std::string manifest = std::string(TIDEMARK_BUILD) + "/install_manifest.txt";
  std::error_code none;
  const fs::file_time_type before = fs::last_write_time(manifest, none);
  ASSERT_EQ(install_to(folder.file("prefix")).exit, 0);
  EXPECT_EQ(fs::last_write_time(manifest, none), before);
}

TEST(Install, goes_below_DESTDIR) {
  const ScratchFolder folder;
  ASSERT_EQ(install_to("/opt/tidemark", {{"DESTDIR", folder.path()}}).exit, 0);
  EXPECT_TRUE(fs::exists(folder.file("opt/tidemark/bin/tidemark")));
}

}  // namespace
}  // namespace tidemark
