// Programs drawn at random: which they are, and what is known of one that fails.
#include "harness/replay/fuzz.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "harness/testing/launch_place.hpp"

namespace tidemark {
namespace {

ProgramPlace place_with(const std::string& fault = "") {
  return {.device = "virtual device",
          .start = {.program = TIDEMARK_BINARY},
          .setup = {.options = {.fault = fault}},
          .ready_s = 60};
}

// One batch of 2,000, or less where a program fails.
Fuzzed one_batch(const ProgramPlace& place, std::uint64_t seed) {
  return fuzz(place, seed, 1, [](std::uint64_t programs) { return programs <= 2000; });
}

TEST(Fuzz, programs_on_a_right_device_agree_with_the_oracle) {
  const Fuzzed fuzzed = one_batch(place_with(), 7);
  EXPECT_FALSE(fuzzed.failed);
  EXPECT_EQ(fuzzed.unusable, "");
  EXPECT_EQ(fuzzed.programs, 2000U);
}

TEST(Fuzz, a_seed_draws_the_same_programs_again) {
  const std::string drawn = one_batch(place_with(), 7).coverage.text();
  EXPECT_EQ(one_batch(place_with(), 7).coverage.text(), drawn);
  EXPECT_NE(one_batch(place_with(), 8).coverage.text(), drawn);
}

TEST(Fuzz, a_broken_device_is_found_with_its_program) {
  const Fuzzed fuzzed = one_batch(place_with("expect_peer_written"), 7);
  ASSERT_TRUE(fuzzed.failed);
  ASSERT_TRUE(fuzzed.failed->program);
  EXPECT_FALSE(fuzzed.failed->program->steps.empty());
}

TEST(Fuzz, several_workers_keep_the_failure_that_comes_first) {
  const auto failing = [](unsigned workers) {
    const Fuzzed fuzzed = fuzz(place_with("expect_peer_written"), 7, workers,
                               [](std::uint64_t programs) { return programs <= 100'000; });
    return fuzzed.failed ? fuzzed.failed->seed : 0;
  };
  EXPECT_EQ(failing(3), failing(1));
}

TEST(Fuzz, no_worker_is_no_failure_however_many_were_wanted) {
  ProgramPlace place = place_with();
  place.start.program = "/nowhere";
  const Fuzzed fuzzed = fuzz(place, 7, 3, [](std::uint64_t) { return true; });
  EXPECT_FALSE(fuzzed.failed);
  EXPECT_NE(fuzzed.unusable, "");
}

TEST(Fuzz, one_worker_runs_the_batches_of_those_that_have_no_device) {
  const Place place;
  const std::string program = place.file("first_alone");
  std::ofstream(program) << "#!/bin/sh\nmkdir '" << place.file("taken") << "' || exit 70\nexec '"
                         << TIDEMARK_BINARY << "' \"$@\"\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  ProgramPlace alone = place_with();
  alone.start.program = program;
  const auto two_batches = [](std::uint64_t programs) { return programs <= 4000; };
  const Fuzzed three = fuzz(alone, 7, 3, two_batches);
  EXPECT_EQ(three.unusable, "");
  EXPECT_EQ(three.coverage.text(), fuzz(place_with(), 7, 1, two_batches).coverage.text());
}

TEST(Fuzz, a_process_that_crashes_is_a_failure_without_a_program) {
  ::setenv("TIDEMARK_TEST_HOOK", "crash@program.random", 1);
  const Fuzzed fuzzed = one_batch(place_with(), 7);
  ::unsetenv("TIDEMARK_TEST_HOOK");
  ASSERT_TRUE(fuzzed.failed);
  EXPECT_FALSE(fuzzed.failed->program);
  EXPECT_NE(fuzzed.failed->reason.find("signal 11"), std::string::npos) << fuzzed.failed->reason;
}

TEST(Fuzz, a_crash_that_does_not_come_again_is_a_failure) {
  ::setenv("TIDEMARK_TEST_HOOK", "crash_once@program.random", 1);
  const Fuzzed fuzzed = one_batch(place_with(), 7);
  ::unsetenv("TIDEMARK_TEST_HOOK");
  ASSERT_TRUE(fuzzed.failed);
  EXPECT_NE(fuzzed.failed->reason.find("one by one"), std::string::npos) << fuzzed.failed->reason;
}

TEST(Fuzz, a_worker_that_is_killed_from_outside_is_no_failure) {
  ::setenv("TIDEMARK_TEST_HOOK", "kill_once@program.random", 1);
  const Fuzzed fuzzed = one_batch(place_with(), 7);
  ::unsetenv("TIDEMARK_TEST_HOOK");
  EXPECT_FALSE(fuzzed.failed);
  EXPECT_EQ(fuzzed.programs, 2000U);
}

TEST(Fuzz, a_device_that_cannot_be_had_is_no_failure) {
  const Fuzzed fuzzed = one_batch(place_with("no_such_fault"), 7);
  EXPECT_FALSE(fuzzed.failed);
  EXPECT_NE(fuzzed.unusable, "");
}

}  // namespace
}  // namespace tidemark
