// Cases that have to end in a CUDA error, in whole launches of the built program on the virtual
// device, which gives the errors that a GPU gives and is as spent after them.
#include <gtest/gtest.h>

#include <string>

#include "harness/testing/run_binary.hpp"
#include "reports/base/scratch_folder.hpp"
#include "reports/store/report.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kIllegalCopies = 21;  // rows of behaviour.fault.illegal_copies

TEST(FaultCases, pass_on_each_gpu_and_leave_it_to_the_next_case) {
  const ScratchFolder folder;
  const Ran ran =
      run_binary({"run", "--device", "virtual", "--gpus", "2", "--level", "soak", "--cases",
                  "behaviour.fault.*", "load.tile.rank1", "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Report report = read_report(folder.file("x.h5"));
  EXPECT_TRUE(report.launch.complete);
  EXPECT_EQ(report.results.size(), 4U);
  std::size_t ended_in_error = 0, ordinary = 0;
  for (const ResultRow& result : report.results) {
    const std::string_view name = report.cases.at(result.case_id).name.view();
    SCOPED_TRACE(std::string(name));
    EXPECT_EQ(result.verdict, Verdict::pass) << report.text(result.reason);
    EXPECT_EQ(result.attempts, 1U);
    EXPECT_EQ(result.signal, 0);
    if (name == "load.tile.rank1") {
      ++ordinary;
      EXPECT_EQ(result.cuda_error, 0);
    } else {
      ++ended_in_error;
      EXPECT_EQ(result.rows_planned, kIllegalCopies);
      EXPECT_EQ(result.rows_run, kIllegalCopies);
      EXPECT_TRUE(result.cuda_error == 715 || result.cuda_error == 716) << result.cuda_error;
    }
  }
  EXPECT_EQ(ordinary, 2U);
  EXPECT_EQ(ended_in_error, 2U);
}

TEST(FaultCases, error_in_a_launch_that_rows_share_is_tried_again_row_by_row) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--level", "quick", "--cases",
                              "load.tile.rank1", "load.tile.rank2", "--out", folder.file("x.h5")},
                             {{"TIDEMARK_TEST_HOOK", "illegal@load.tile.rank1"}});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  const Report report = read_report(folder.file("x.h5"));
  ASSERT_EQ(report.results.size(), 2U);
  EXPECT_EQ(report.results[0].verdict, Verdict::sticky);
  EXPECT_EQ(report.results[0].attempts, 2U);
  const std::string reason(report.text(report.results[0].reason));
  EXPECT_NE(reason.find("attempt 2: row 1: the GPU faulted"), std::string::npos) << reason;
  EXPECT_EQ(report.results[0].rows_run, report.results[0].rows_planned);
  EXPECT_EQ(report.results[0].rows_failed, 1U);
  EXPECT_EQ(report.results[1].verdict, Verdict::pass);
}

TEST(FaultCases, a_row_that_failed_is_replayed_by_its_command_and_not_as_a_program) {
  const ScratchFolder folder;
  const Ran ran =
      run_binary({"run", "--device", "virtual", "--level", "soak", "--cases", "behaviour.fault.*",
                  "--fault", "load_misaligned_as_719", "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  EXPECT_EQ(run_binary({"show", folder.file("x.h5")}).out.find("tidemark replay"),
            std::string::npos);
  const Ran replayed = run_binary({"replay", folder.file("x.h5"), "--result", "0"});
  EXPECT_EQ(replayed.exit, 2);
  EXPECT_NE(replayed.err.find("nothing can be compared behind the error that has to come; run the "
                              "command on stdout instead"),
            std::string::npos)
      << replayed.err;
}

TEST(FaultCases, run_at_any_level_where_they_are_named) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--level", "nightly", "--cases",
                              "behaviour.fault*", "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Report report = read_report(folder.file("x.h5"));
  ASSERT_EQ(report.results.size(), 1U);
  EXPECT_EQ(report.results[0].rows_run, kIllegalCopies);
}

TEST(FaultCases, do_not_come_along_with_a_wider_glob_below_soak) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--level", "quick", "--cases",
                              "behaviour*", "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 0) << ran.err;
  const Report report = read_report(folder.file("x.h5"));
  EXPECT_FALSE(report.results.empty());
  for (const ResultRow& result : report.results)
    EXPECT_FALSE(report.cases.at(result.case_id).name.view().starts_with("behaviour.fault"));
}

TEST(FaultCases, fail_in_every_attempt_where_another_error_comes) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--level", "soak", "--cases",
                              "behaviour.fault.illegal_copies", "--row", "11", "--fault",
                              "store_illegal_as_700", "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  const Report report = read_report(folder.file("x.h5"));
  ASSERT_EQ(report.results.size(), 1U);
  EXPECT_EQ(report.results[0].verdict, Verdict::fail);
  EXPECT_EQ(report.results[0].attempts, 3U);
  EXPECT_EQ(report.results[0].cuda_error, 700);
  EXPECT_EQ(report.text(report.results[0].reason),
            "3 of 3 attempts did not pass; attempt 3: row 11, a store to row -1: expected CUDA "
            "error 715 (illegal instruction), got CUDA error 700 (illegal address): illegal "
            "address: coordinate -1 of dimension 1 is negative");
}

TEST(FaultCases, fail_where_no_error_comes) {
  const ScratchFolder folder;
  const Ran ran = run_binary({"run", "--device", "virtual", "--level", "soak", "--cases",
                              "behaviour.fault.illegal_copies", "--fault",
                              "load_misaligned_rounded_down", "--out", folder.file("x.h5")});
  EXPECT_EQ(ran.exit, 1) << ran.err;
  EXPECT_NE(ran.out.find("expected CUDA error 716 (misaligned address), the operation ended "
                         "without any"),
            std::string::npos)
      << ran.out;
}

}  // namespace
}  // namespace tidemark
