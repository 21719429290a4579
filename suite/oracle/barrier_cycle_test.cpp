// The barrier-cycle oracle by hand, and its comparator where it must complain.
#include "suite/oracle/barrier_cycle.hpp"

#include <gtest/gtest.h>

#include "kernels/error.hpp"

namespace tidemark::suite {
namespace {

// Two lives of two phases and one; phase n takes row n of 64 bytes.
BarrierCycle small_cycle() {
  BarrierCycle cycle{.map = {.extent = {64, 8}, .stride = {64}, .box = {64, 1}},
                     .payload = {.seed = 3}};
  cycle.step = {0, 1};
  cycle.life_count = 2;
  cycle.lives[0] = {.count = 4, .phases = 2};
  cycle.lives[1] = {.count = 1, .phases = 1};
  return cycle;
}

RunResult right_result(const Expectation& expected) {
  RunResult result;
  result.bytes = expected.bytes;
  result.surroundings = expected.surroundings;
  result.ledger = expected.ledger;
  return result;
}

TEST(BarrierCycleOracle, EachPhaseHasItsRow) {
  const Expectation expected = predict(small_cycle());
  constexpr std::size_t kWindow = 1024 + 64 + 1024;
  ASSERT_EQ(expected.bytes.size(), 3 * kWindow + 16);
  EXPECT_EQ(expected.bytes[2 * kWindow + 1024 + 5], source_byte({.seed = 3}, 1024 + 128 + 5));
  EXPECT_EQ(expected.bytes[2 * kWindow + 1024 + 64], poison_byte({.seed = 3}, 1024 + 64));
}

TEST(BarrierCycleOracle, PlainWordsFollowLowByteFirst) {
  const BarrierCycle cycle = small_cycle();
  const Expectation expected = predict(cycle);
  EXPECT_EQ(expected.bytes[expected.bytes.size() - 8], cycle_plain_word(cycle, 1) & 0xffU);
}

TEST(BarrierCycleOracle, NothingIsCompleteBeforeItsLastArrival) {
  const BarrierLedger ledger = predict(small_cycle()).ledger;
  EXPECT_EQ(ledger.phases, std::vector<BarrierPhase>(3, {.complete = true}));
  EXPECT_EQ(ledger.announced, 192U);
}

TEST(BarrierCycleOracle, RefusesTypesThatALoadConverts) {
  BarrierCycle cycle = small_cycle();
  cycle.map.type = DataType::tf32;
  EXPECT_THROW(predict(cycle), Error);
}

TEST(CompareBarrierCycle, SaysNothingWhereAllAgrees) {
  const BarrierCycle cycle = small_cycle();
  const Expectation expected = predict(cycle);
  EXPECT_TRUE(compare(cycle, expected, right_result(expected), 0).empty());
}

TEST(CompareBarrierCycle, ComplainsAboutEachByte) {
  const BarrierCycle cycle = small_cycle();
  const Expectation expected = predict(cycle);
  const std::size_t words = expected.bytes.size() - 16;
  for (std::size_t i = 0; i < expected.bytes.size(); ++i) {
    RunResult result = right_result(expected);
    result.bytes[i] ^= 0x01;
    const auto found = compare(cycle, expected, result, 0);
    ASSERT_EQ(found.size(), 1U) << i;
    EXPECT_EQ(found[0].first_offset, i);
    EXPECT_EQ(found[0].what, i < words ? "byte" : "plain word") << i;
  }
}

std::string complaint_about(void (*change)(BarrierLedger&)) {
  const BarrierCycle cycle = small_cycle();
  const Expectation expected = predict(cycle);
  RunResult result = right_result(expected);
  change(result.ledger);
  const auto found = compare(cycle, expected, result, 0);
  return found.size() == 1 ? found[0].what : std::to_string(found.size()) + " complaints";
}

TEST(CompareBarrierCycle, ComplainsAboutEachLineOfAPhase) {
  EXPECT_EQ(complaint_about([](BarrierLedger& l) { l.phases[1].early = true; }),
            "barrier: phase 1 early");
  EXPECT_EQ(complaint_about([](BarrierLedger& l) { l.phases[0].before_last = true; }),
            "barrier: phase 0 before_last");
  EXPECT_EQ(complaint_about([](BarrierLedger& l) { l.phases[2].complete = false; }),
            "barrier: phase 2 complete");
}

TEST(CompareBarrierCycle, ComplainsAboutPhasesThatWereNotBegun) {
  EXPECT_EQ(complaint_about([](BarrierLedger& l) { l.phases.pop_back(); }), "barrier: phases");
}

TEST(CompareBarrierCycle, ComplainsAboutTheAnnouncement) {
  EXPECT_EQ(complaint_about([](BarrierLedger& l) { l.announced += 16; }), "barrier: announced");
}

}  // namespace
}  // namespace tidemark::suite
