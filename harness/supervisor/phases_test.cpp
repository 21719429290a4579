// The two phases of a launch: what each GPU does on its own, then what all do together.
#include "harness/supervisor/launch_state.hpp"

#include <gtest/gtest.h>

namespace tidemark {
namespace {

/// Its last row waited, after `wrong` rows with wrong bytes.
Ending waiter_behind(std::uint32_t wrong) {
  Outcome outcome;
  outcome.judgement = Judgement::others_late;
  outcome.rows_planned = 5;
  outcome.rows_run = 3;
  outcome.rows_failed = wrong + 1;
  return {.verdict = Verdict::hang, .reason = "row 2: waits for GPU 1", .outcome = outcome};
}

TEST(Waiters, a_wait_is_a_hang_where_nobody_else_broke_the_round) {
  const Ending ending = waiter_ending(waiter_behind(0), "");
  EXPECT_EQ(ending.verdict, Verdict::hang);
  EXPECT_EQ(ending.reason, "row 2: waits for GPU 1");
}

TEST(Waiters, a_wait_for_a_culprit_did_not_run_and_names_it) {
  const Ending ending = waiter_ending(waiter_behind(0), "slot 1 hung");
  EXPECT_EQ(ending.verdict, Verdict::not_run);
  EXPECT_EQ(ending.reason, "slot 1 hung; row 2: waits for GPU 1");
}

TEST(Waiters, the_row_that_waited_did_not_run_and_is_no_failed_row) {
  const Ending ending = waiter_ending(waiter_behind(0), "slot 1 hung");
  EXPECT_EQ(ending.rows_planned, 5U);
  EXPECT_EQ(ending.rows_run, 2U);
  EXPECT_FALSE(ending.outcome.has_value());
}

TEST(Waiters, rows_that_were_wrong_before_stay_a_fail) {
  const Ending ending = waiter_ending(waiter_behind(1), "slot 1 hung");
  EXPECT_EQ(ending.verdict, Verdict::fail);
  EXPECT_TRUE(ending.outcome.has_value());
}

TEST(Waiters, a_timeout_of_the_gpu_itself_is_no_wait_for_others) {
  Ending ending = waiter_behind(0);
  EXPECT_TRUE(ending.waited_for_others());
  ending.outcome->judgement = Judgement::timeout;
  EXPECT_FALSE(ending.waited_for_others());
}

TEST(Waiters, a_hang_by_the_deadline_of_the_supervisor_is_no_wait_for_others) {
  EXPECT_FALSE(Ending{.verdict = Verdict::hang}.waited_for_others());
}

}  // namespace

}  // namespace tidemark
