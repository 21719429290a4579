// Tests of tidemark doctor by the built program.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "harness/discovery/node_files.hpp"
#include "harness/testing/launch_place.hpp"

namespace tidemark {
namespace {

// Of a root that starts two ranks.
Environment starting_ranks() {
  Environment environment = kRoot;
  environment.emplace_back("ASAN_OPTIONS", "fast_unwind_on_malloc=0");  // ci/open_mpi_leaks.txt
  return environment;
}

TEST(Doctor, finds_nothing_wrong_here_for_the_virtual_device_and_leaves_nothing) {
  const Place place;
  Environment environment = starting_ranks();
  environment.emplace_back("PATH", std::getenv("PATH"));
  const Ran ran = run_binary({"doctor", "--device", "virtual", "--out",
                              std::filesystem::path(place.out()).parent_path().string()},
                             environment);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  EXPECT_NE(ran.out.find("\nok    mpi_start        2 ranks met"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find("\n0 fail, "), std::string::npos) << ran.out;
  EXPECT_TRUE(place.files().empty());
}

TEST(Doctor, says_the_same_as_json) {
  const Ran ran = run_binary({"doctor", "--device", "virtual", "--out", "/no/such", "--json"},
                             starting_ranks());
  EXPECT_EQ(ran.exit, 5) << ran.err;
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << ran.out;
  EXPECT_EQ(json.at("counts").at("fail"), 1);
  const auto& first = json.at("checks").at(0);
  EXPECT_EQ(first.at("name"), "output");
  EXPECT_EQ(first.at("status"), "fail");
  EXPECT_EQ(first.at("seen"), "/no/such: there is no such folder");
  EXPECT_FALSE(first.at("fix").get<std::string>().empty());
}

TEST(Doctor, ends_with_5_where_there_is_no_gpu_and_names_the_virtual_device) {
  if (nvidia_present()) GTEST_SKIP() << "this machine has a GPU";
  const Ran ran = run_binary({"doctor"}, kRoot);
  EXPECT_EQ(ran.exit, 5) << ran.out;
  EXPECT_EQ(ran.out.rfind("fail  gpu ", 0), 0U) << ran.out;
  EXPECT_NE(ran.out.find("--device virtual"), std::string::npos) << ran.out;
}

TEST(Doctor, starts_no_ranks_as_a_rank) {
  Environment environment = kRoot;
  environment.emplace_back("OMPI_COMM_WORLD_RANK", "1");
  environment.emplace_back("OMPI_COMM_WORLD_SIZE", "2");
  const Ran ran = run_binary({"doctor", "--device", "virtual"}, environment);
  EXPECT_NE(ran.out.find("skip  this process is a rank of mpirun itself: mpi_start"),
            std::string::npos)
      << ran.out;
}

}  // namespace
}  // namespace tidemark
