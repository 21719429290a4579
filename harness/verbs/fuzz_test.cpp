// tidemark fuzz as a command: what comes of a device that is wrong, and of bad input.
#include <gtest/gtest.h>

#include <string>

#include "harness/testing/launch_place.hpp"
#include "harness/testing/run_binary.hpp"

namespace tidemark {
namespace {

constexpr const char* kFault = "expect_peer_written";

TEST(FuzzVerb, a_failing_program_becomes_small_and_can_be_run_again) {
  const Place place;
  const std::string file = place.file("p.json");
  const Ran ran =
      run_binary({"fuzz", "--for", "5m", "--seed", "7", "--device", "virtual", "--fault", kFault,
                  "--json", file, "--emit-cuda", place.file("p.cu")});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  EXPECT_NE(ran.out.find("RESULT: FAIL"), std::string::npos) << ran.out;
  EXPECT_EQ(place.files(), (Arguments{"p.cu", "p.json"}));
  const Arguments again = {"run", "--program", file, "--device", "virtual"};
  EXPECT_EQ(run_binary(again).exit, 0);
  Arguments broken = again;
  broken.insert(broken.end(), {"--fault", kFault});
  EXPECT_EQ(run_binary(broken).exit, 1);
}

TEST(FuzzVerb, the_line_that_it_prints_makes_the_row_again) {
  const Ran ran =
      run_binary({"fuzz", "--for", "5m", "--seed", "7", "--device", "virtual", "--fault", kFault});
  const std::size_t begin = ran.out.find("--seed 0x", ran.out.find("again: "));
  ASSERT_NE(begin, std::string::npos) << ran.out;
  const std::size_t row = ran.out.find(" --row ", begin), end = ran.out.find(" --device", row);
  const std::string seed = ran.out.substr(begin + 7, row - begin - 7);
  const Place place;
  const Ran line = run_binary(
      run_arguments(place, {"--cases", "program.random", "--level", "nightly", "--seed", seed,
                            "--row", ran.out.substr(row + 7, end - row - 7), "--fault", kFault}));
  EXPECT_EQ(line.exit, 1) << line.err;
}

TEST(FuzzVerb, bad_input_is_refused) {
  for (const Arguments& bad : {Arguments{"--for", "0"}, Arguments{"--seed", "x"},
                               Arguments{"--device", "virtual", "--fault", "x"},
                               Arguments{"--json", "a", "--emit-cuda", "a"}}) {
    Arguments all = {"fuzz"};
    all.insert(all.end(), bad.begin(), bad.end());
    EXPECT_EQ(run_binary(all).exit, 2) << bad.front();
  }
}

}  // namespace
}  // namespace tidemark
