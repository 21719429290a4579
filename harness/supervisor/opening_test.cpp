// Where a report can and cannot go.
#include "harness/supervisor/opening.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "harness/base/errors.hpp"
#include "reports/base/error.hpp"
#include "reports/base/scratch_folder.hpp"

namespace tidemark {
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
  EXPECT_THROW(check_output(folder.file(std::string(250, 'a'))), ReportError);  // .tmp.<pid>
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

/// What each of `given.size()` ranks, threads of this process, comes to in an opening with its
/// options.
std::vector<std::optional<Opening>> opened(const ScratchFolder& folder,
                                           const std::vector<LaunchOptions>& given,
                                           std::vector<std::string>& refusals) {
  const auto ranks = static_cast<std::uint32_t>(given.size());
  std::vector<std::optional<Opening>> openings(ranks);
  refusals.assign(ranks, "");
  std::vector<Link> links = local_links(ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      LaunchOptions options = given[rank];
      options.device = DeviceChoice::virtual_device;
      options.out = folder.file("x.h5");
      StopWatch stop(0);
      Mesh mesh(std::move(links[rank]), true);
      try {
        openings[rank] = open_launch(options, 1, mesh, stop);
      } catch (const UsageError& error) {
        refusals[rank] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return openings;
}

TEST(OpenLaunch, from_1_to_8_ranks_all_know_the_places_of_all_and_each_its_own_gpu) {
  const ScratchFolder folder;
  for (std::uint32_t ranks = 1; ranks <= 8; ++ranks) {
    std::vector<std::string> refusals;
    const auto all = opened(folder, std::vector<LaunchOptions>(ranks), refusals);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      ASSERT_TRUE(all[rank].has_value()) << rank << " of " << ranks << ": " << refusals[rank];
      EXPECT_EQ(all[rank]->head.run_id, all[0]->head.run_id);
      ASSERT_EQ(all[rank]->places.size(), ranks);
      EXPECT_EQ(all[rank]->hosts.size(), ranks);
      EXPECT_EQ(all[rank]->nodes, 1U);
      for (std::uint32_t other = 0; other < ranks; ++other) {
        EXPECT_EQ(all[rank]->places[other].uuid, all[0]->places[other].uuid);
        EXPECT_EQ(all[rank]->assignment.gpus[other].size(), rank == other ? 1U : 0U);
      }
    }
  }
}

TEST(OpenLaunch, a_refusal_of_one_rank_is_that_of_all) {
  const ScratchFolder folder;
  std::vector<std::string> refusals;
  static_cast<void>(opened(folder, {{}, {}, {.level = Level::nightly}}, refusals));
  EXPECT_EQ(refusals[0],
            "rank 2 was started with --level nightly and rank 0 with --level quick; give every "
            "rank the same arguments");
  EXPECT_EQ(refusals[1], refusals[0]);
  EXPECT_EQ(refusals[2], refusals[0]);
}

TEST(OpenLaunch, ranks_agree_on_every_option_that_changes_results) {
  const ScratchFolder folder;
  for (const auto& [option, of_rank_1] : std::vector<std::pair<std::string, LaunchOptions>>{
           {"--seed 7", {.seed = 7}},
           {"--strict", {.strict = true}},
           {"--fault load_swizzle_ignored", {.fault = "load_swizzle_ignored"}},
           {"--gpus 2", {.gpus = "2"}},
           {"--policy p.json", {.policy = "p.json"}},
           {"--anonymize", {.anonymize = true}},
           {"--time-limit 90", {.time_limit_s = 90}}}) {
    std::vector<std::string> refusals;
    static_cast<void>(opened(folder, {{}, of_rank_1}, refusals));
    EXPECT_EQ(refusals[0].find("rank 1 was started with " + option), 0U) << refusals[0];
    EXPECT_EQ(refusals[1], refusals[0]);
  }
}

}  // namespace
}  // namespace tidemark
