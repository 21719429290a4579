// Launches in which a rank has no device that it can use: the rest runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/testing/launch_place.hpp"

namespace tidemark {
namespace {

#ifdef TIDEMARK_WITH_MPI

/// Three ranks, of which `rank` has no device.
Ran run_without_device_of(const Place& place, int rank, const Arguments& more) {
  Arguments all = {"--cases", "zfill.whole", "gemm.distributed.integer"};
  all.insert(all.end(), more.begin(), more.end());
  return run_program(under_mpirun(3, run_arguments(place, all)),
                     with_hook("fail@device#" + std::to_string(rank)));
}

TEST(LeftOut, a_rank_without_a_device_is_told_and_the_rest_runs) {
  for (const int rank : {0, 1, 2}) {
    const Place place;
    const Ran ran = run_without_device_of(place, rank, {});
    EXPECT_EQ(ran.exit, 0) << ran.out << ran.err;
    EXPECT_NE(ran.out.find("2 cases x 2 gpus: 4 pass = 4 planned"), std::string::npos) << ran.out;
    const std::string told = "rank " + std::to_string(rank) + " on host ";
    EXPECT_NE(ran.out.find(" LEFT OUT: " + told), std::string::npos) << ran.out;
    const Report report = read_report(place.out());
    EXPECT_TRUE(report.launch.complete) << report.launch.incomplete_reason;
    EXPECT_EQ(report.launch.ranks_reported, 3U);
    EXPECT_EQ(report.launch.gpus, 2U);
    const Ran shown = run_binary({"show", place.out()});
    EXPECT_NE(shown.out.find("HARDWARE: left out: " + told), std::string::npos) << shown.out;
  }
}

TEST(LeftOut, strict_gpus_refuses_to_leave_one_out) {
  const Place place;
  const Ran ran = run_without_device_of(place, 1, {"--strict-gpus"});
  EXPECT_EQ(ran.exit, 5) << ran.out << ran.err;
  EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  EXPECT_NE(ran.err.find("tidemark: rank 1 on host "), std::string::npos) << ran.err;
  EXPECT_TRUE(place.files().empty());
}

TEST(LeftOut, expect_gpus_refuses_a_node_with_fewer) {
  const Place place;
  const Ran ran = run_without_device_of(place, 1, {"--expect-gpus", "3"});
  EXPECT_EQ(ran.exit, 5) << ran.out << ran.err;
  EXPECT_NE(ran.err.find(" has 2 usable GPUs, --expect-gpus 3: rank 1 on host "), std::string::npos)
      << ran.err;
  EXPECT_TRUE(place.files().empty());
}

#endif

}  // namespace
}  // namespace tidemark
