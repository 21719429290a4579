// Tests of tidemark selftest by the built program.
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "harness/testing/launch_place.hpp"

namespace tidemark {
namespace {

TEST(Selftest, notices_every_injection_and_leaves_nothing) {
  const Place place;
  const std::string folder = std::filesystem::path(place.out()).parent_path();
  Environment environment = kRoot;
  environment.emplace_back("TMPDIR", folder);
  // One that tests tidemark itself must not join in.
  environment.emplace_back("TIDEMARK_TEST_HOOK", "fail@load.tile.rank2");
  const Ran ran = run_binary({"selftest", "--json"}, environment);
  EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
  const auto json = nlohmann::json::parse(ran.out, nullptr, false);
  ASSERT_TRUE(json.is_object()) << ran.out;
  EXPECT_EQ(json.at("noticed"), json.at("injections"));
  EXPECT_GE(json.at("injections").get<int>(), 20);
#ifdef TIDEMARK_WITH_MPI
  EXPECT_EQ(json.at("skipped"), 0) << ran.out;
#endif
  // What is left is Open MPI's own, if anything.
  for (const std::string& name : place.files())
    EXPECT_EQ(name.find("tidemark"), std::string::npos) << name;
}

TEST(Selftest, that_is_stopped_is_incomplete_and_leaves_no_folder) {
  const Place place;
  const std::string folder = std::filesystem::path(place.out()).parent_path();
  const RunningProgram running = start_program(command({"selftest"}), {{"TMPDIR", folder}});
  for (int i = 0; i < 1000 && place.files().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_FALSE(place.files().empty());
  ::kill(running.pid, SIGTERM);
  const Ran ran = finish_program(running);
  EXPECT_EQ(ran.exit, 4) << ran.out << ran.err;
  EXPECT_EQ(ran.err.rfind("tidemark: selftest: stopped by SIGTERM before '", 0), 0U) << ran.err;
  EXPECT_TRUE(place.files().empty());
}

TEST(Selftest, lists_what_it_would_inject) {
  const Ran ran = run_binary({"selftest", "--list"});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  EXPECT_NE(
      ran.out.find("\nkilled rank              SIGKILL to rank 1 of 2 under mpirun: not_run of "
                   "zfill.whole, incomplete, any exit but 0\n"),
      std::string::npos)
      << ran.out;
  const Ran json = run_binary({"selftest", "--list", "--json"});
  EXPECT_TRUE(nlohmann::json::parse(json.out, nullptr, false).is_array()) << json.out;
}

TEST(Selftest, needs_a_folder_to_work_in) {
  const Ran ran = run_binary({"selftest"}, {{"TMPDIR", "/no/such/folder"}});
  EXPECT_EQ(ran.exit, 5) << ran.out << ran.err;
  EXPECT_EQ(ran.err,
            "tidemark: selftest: there is no folder to work in: /no/such/folder; set TMPDIR to one "
            "that can be written to\n");
}

}  // namespace
}  // namespace tidemark
