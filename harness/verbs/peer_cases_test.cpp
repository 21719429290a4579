// Copies between neighbours in whole launches of the built program: the memory of virtual GPUs
// travels from worker to worker by the relay.
#include <gtest/gtest.h>

#include <string>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

TEST(PeerCases, pass_between_three_gpus) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--gpus", "3", "--cases", "peer.*",
                              "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 0) << ran.err << ran.out;
  const Report report = read_report(folder.file("x.h5"));
  ASSERT_EQ(report.results.size(), 6U);
  for (const ResultRow& result : report.results) {
    EXPECT_EQ(result.verdict, Verdict::pass) << report.text(result.reason);
    EXPECT_GT(result.rows_run, 50U);
  }
}

TEST(PeerCases, fail_where_a_gpu_reads_its_own_memory) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--gpus", "2", "--cases", "peer.load",
                              "--fault", "peer_own_memory", "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  EXPECT_NE(ran.out.find("it is what this rank's own memory holds"), std::string::npos) << ran.out;
}

TEST(PeerCases, end_with_one_line_where_the_neighbour_crashes) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--gpus", "2", "--cases", "peer.load",
                              "--out", folder.file("x.h5")},
                             {{"TIDEMARK_TEST_HOOK", "crash@peer.load#1"}});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  const Report report = read_report(folder.file("x.h5"));
  ASSERT_EQ(report.results.size(), 2U);
  for (const ResultRow& result : report.results)
    if (result.verdict == Verdict::not_run)
      EXPECT_NE(report.text(result.reason).find("crashed in the same round"), std::string::npos)
          << report.text(result.reason);
    else
      EXPECT_EQ(result.verdict, Verdict::crash);
}

TEST(PeerCases, did_not_run_where_the_neighbour_is_stuck) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--gpus", "2", "--cases", "peer.load",
                              "--out", folder.file("x.h5")},
                             {{"TIDEMARK_TEST_HOOK", "stop@peer.load#1 impatient@peer.load#0"}});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  const Report report = read_report(folder.file("x.h5"));
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_EQ(report.results[0].verdict, Verdict::not_run) << report.text(report.results[0].reason);
  EXPECT_EQ(report.results[1].verdict, Verdict::hang) << report.text(report.results[1].reason);
}

TEST(PeerCases, are_skipped_on_one_gpu_with_the_reason) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--cases", "peer.load",
                              "load.tile.rank1", "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Report report = read_report(folder.file("x.h5"));
  ASSERT_EQ(report.results.size(), 2U);
  for (const ResultRow& result : report.results)
    if (report.cases.at(result.case_id).name.view() == "peer.load") {
      EXPECT_EQ(result.verdict, Verdict::skip);
      EXPECT_EQ(report.text(result.reason), "needs 2 GPUs or more, and this launch has 1");
    }
}

}  // namespace
}  // namespace tidemark
