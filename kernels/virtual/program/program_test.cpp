// What programs leave on a device without a fault, one behaviour each, worked out by hand.
#include "kernels/virtual/program/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "kernels/ops/tensor_map.hpp"

namespace tidemark {
namespace {

constexpr std::uint32_t kTile = 512, kTileAt = 1024, kWindow = 1024 + kTile + 1024;
constexpr std::uint16_t kBoth = 3;

/// Clusters of `ctas` CTAs with two barriers each, and a box of 64 x 8 bytes.
Program cluster(std::uint32_t ctas, std::vector<Step> steps) {
  TileLoad load{.map = {.extent = {160, 20}, .stride = {160}, .box = {64, 8}},
                .payload = {.seed = 5}};
  return {.cluster = {ctas, 1, 1},
          .window = kWindow,
          .barriers = 2,
          .regions = {region_of(load)},
          .maps = {{.spec = load.map}},
          .steps = std::move(steps),
          .payload = load.payload};
}

Program alone(std::vector<Step> steps) { return cluster(1, std::move(steps)); }

Step load() { return {.verb = Verb::load, .offset = kTileAt, .at = {16, 3}}; }
Step poison() { return {.verb = Verb::poison, .bytes = kWindow}; }
Step missing() { return {.verb = Verb::missing, .offset = kTileAt, .bytes = kTile}; }
Step announce(std::uint32_t bytes) { return {.verb = Verb::arrive_expect_tx, .bytes = bytes}; }
Step wait(std::uint8_t parity = 0) {
  return {.verb = Verb::wait, .parity = parity, .ns = kMustCompleteNs};
}
Step stopping_wait() { return {.verb = Verb::wait, .stops = true, .ns = kSettleNs}; }
Step test(std::uint8_t parity) { return {.verb = Verb::test, .parity = parity}; }
Step settle() { return {.verb = Verb::delay, .ns = kSettleNs}; }

/// For a barrier that was told of `announced` bytes and, all being right, credited with `credited`.
Step meter(std::uint64_t announced, std::uint64_t credited, std::uint32_t pending = 0) {
  const BarrierAccount account{.announced = announced, .credited = credited};
  return {.verb = Verb::meter,
          .pending = pending,
          .bytes = meter_slack(account),
          .stride = meter_stride(account),
          .most = meter_most(account)};
}

Step on_barrier(Step step, std::uint8_t barrier) {
  step.barrier = barrier;
  return step;
}

Step by(Step step, std::uint16_t ctas) {
  step.ctas = ctas;
  return step;
}

Step in(Step step, std::uint8_t cta) {
  step.of = cta;
  return step;
}

RunResult run(const Program& program) { return run_virtual_program(program, kNoFault); }

std::uint64_t settled(std::int32_t residue) { return meter_trace(false, true, residue); }
std::uint64_t settled_next(std::int32_t residue) { return meter_trace(true, true, residue); }

std::string error_of(const Program& program) {
  try {
    (void)run(program);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Byte of the box at (16, 3) in the tensor that starts behind the guard of its region.
std::uint8_t tile_byte(const Program& program, std::uint32_t i) {
  return source_byte(program.payload, kGuardBytes + 160 * (3 + i / 64) + 16 + i % 64);
}

TEST(VirtualProgram, ExactAnnouncementCompletesAndOwesNothing) {
  const RunResult result =
      run(alone({{.verb = Verb::init}, announce(512), load(), wait(), meter(0, 0)}));
  EXPECT_EQ(result.fault, DeviceFault::none);
  EXPECT_EQ(result.trace[3], 1U);
  EXPECT_EQ(result.trace[4], settled_next(0));
}

TEST(VirtualProgram, OverAnnouncementDoesNotCompleteAndOwesTheDifference) {
  const RunResult result =
      run(alone({{.verb = Verb::init}, announce(513), load(), wait(), meter(513, 512), test(0)}));
  EXPECT_EQ(result.fault, DeviceFault::none);
  EXPECT_EQ(result.trace[3], 0U);
  EXPECT_EQ(result.trace[4], settled(1));
  EXPECT_EQ(result.trace[5], 1U);
}

TEST(VirtualProgram, UnderAnnouncementOwesLessThanNothingWhetherItCompletesOrNot) {
  Program program =
      alone({{.verb = Verb::init}, announce(256), load(), wait(), settle(), meter(256, 512)});
  std::size_t early = 0, never = 0;
  for (program.payload.seed = 0; program.payload.seed < 200; ++program.payload.seed) {
    const std::uint64_t metered = run(program).trace[5];
    EXPECT_EQ(residue_of(metered), -256) << program.payload.seed;
    EXPECT_NE(metered & kMeterSettled, 0U) << program.payload.seed;
    ++((metered & kMeterComplete) != 0 ? early : never);
  }
  EXPECT_GT(early, 0U);
  EXPECT_GT(never, 0U);
}

TEST(VirtualProgram, WholeRangeOfTheCountIsMetered) {
  const RunResult result = run(alone(
      {{.verb = Verb::init}, announce(kTxCountMax), load(), settle(), meter(kTxCountMax, 512)}));
  EXPECT_EQ(result.trace[4], settled((1 << 20) - 1 - 512));
}

TEST(VirtualProgram, MeterMakesTheMissingArrival) {
  const RunResult result = run(alone({{.verb = Verb::init},
                                      {.verb = Verb::expect_tx, .bytes = 512},
                                      load(),
                                      settle(),
                                      meter(512, 512, 1)}));
  EXPECT_EQ(result.trace[4], settled(0));
}

TEST(VirtualProgram, CreditByHandThatMeetsZeroCompletesAndOwesTheRest) {
  const RunResult result = run(alone({{.verb = Verb::init},
                                      announce(300),
                                      {.verb = Verb::complete_tx, .bytes = 300},
                                      test(0),
                                      {.verb = Verb::complete_tx, .bytes = 44},
                                      meter(300, 344)}));
  EXPECT_EQ(result.trace[3], 1U);
  EXPECT_EQ(result.trace[5], settled_next(-44));
}

TEST(VirtualProgram, CreditByHandThatJumpsOverZeroDoesNotComplete) {
  const RunResult result = run(alone({{.verb = Verb::init},
                                      announce(301),
                                      {.verb = Verb::complete_tx, .bytes = 300},
                                      {.verb = Verb::complete_tx, .bytes = 44},
                                      meter(301, 344)}));
  EXPECT_EQ(result.trace[4], settled(-43));
}

TEST(VirtualProgram, WrongBarrierOwesWhatTheRightOneWasGivenTooMuch) {
  const RunResult result = run(alone({{.verb = Verb::init},
                                      on_barrier({.verb = Verb::init}, 1),
                                      on_barrier(announce(512), 1),
                                      load(),
                                      settle(),
                                      meter(0, 512, 1),
                                      on_barrier(meter(512, 0), 1)}));
  EXPECT_EQ(result.trace[5], settled(-512));
  EXPECT_EQ(result.trace[6], settled(512));
}

TEST(VirtualProgram, RemoteAnnouncementIsOwedByThePeer) {
  const RunResult result = run(
      cluster(2, {by({.verb = Verb::init}, kBoth), by({.verb = Verb::cluster_sync}, kBoth),
                  in(announce(512), 1), load(), settle(), by({.verb = Verb::cluster_sync}, kBoth),
                  by(meter(0, 512, 1), 1), by(meter(512, 0), 2)}));
  ASSERT_EQ(result.trace.size(), 8U * 2);
  EXPECT_EQ(result.trace[6 * 2], settled(-512));
  EXPECT_EQ(result.trace[6 * 2 + 1], 0U);
  EXPECT_EQ(result.trace[7 * 2 + 1], settled(512));
}

Step sync() { return by({.verb = Verb::cluster_sync}, kBoth); }

/// Bit i: whether CTA 1 has ever seen, or not seen, what CTA 0 does in a step before, of 40 seeds.
std::uint32_t seen_of_arrival(std::vector<Step> between) {
  std::vector<Step> steps = {by({.verb = Verb::init}, kBoth), sync(),
                             in({.verb = Verb::arrive}, 1)};
  steps.insert(steps.end(), between.begin(), between.end());
  steps.push_back(by(test(0), 2));
  Program program = cluster(2, steps);
  std::uint32_t seen = 0;
  for (program.payload.seed = 0; program.payload.seed < 40; ++program.payload.seed)
    seen |= 1U << run(program).trace.back();
  return seen;
}

TEST(VirtualProgram, RemoteArrivalCompletesThePeersPhase) {
  EXPECT_EQ(seen_of_arrival({sync()}), 2U);
}
TEST(VirtualProgram, CtasThatDoNotMeetRunApart) { EXPECT_EQ(seen_of_arrival({}), 3U); }
TEST(VirtualProgram, AWaitLastsUntilThePeerHasDoneWhatEndsIt) {
  EXPECT_EQ(seen_of_arrival({by(wait(), 2)}), 2U);
}
TEST(VirtualProgram, ADelayIsLongerThanWhatAPeerDoesMeanwhile) {
  EXPECT_EQ(seen_of_arrival({by(settle(), 2)}), 2U);
}

// From the middle of the window of CTA 0 to 16 bytes further on in that of `to`.
Step send(std::uint8_t to) {
  return {.verb = Verb::send, .of = to, .offset = kTileAt, .bytes = 32, .at = {kTileAt + 16}};
}

TEST(VirtualProgram, ASendLandsInTheWindowOfThePeerAndCreditsItsBarrier) {
  const Program program =
      cluster(2, {by(poison(), kBoth), by({.verb = Verb::init}, kBoth), by(announce(32), 2),
                  by({.verb = Verb::cluster_sync}, kBoth), send(1), by(wait(), 2),
                  by(test(0), kBoth), by({.verb = Verb::snapshot}, kBoth)});
  const RunResult result = run(program);
  EXPECT_EQ(result.trace[5 * 2 + 1], 1U);
  EXPECT_EQ(result.trace[6 * 2], 0U);
  EXPECT_EQ(result.trace[6 * 2 + 1], 1U);
  for (std::uint32_t i = 0; i < kWindow; ++i) {
    const bool lands = i >= kTileAt + 16 && i < kTileAt + 48;
    ASSERT_EQ(result.bytes[i], cta_poison_byte(program.payload, 0, i)) << i;
    ASSERT_EQ(result.bytes[kWindow + i], lands ? cta_poison_byte(program.payload, 0, i - 16)
                                               : cta_poison_byte(program.payload, 1, i))
        << i;
  }
}

std::uint32_t word_at(const RunResult& result, std::uint32_t byte) {
  std::uint32_t word = 0;
  for (std::uint32_t i = 4; i > 0; --i) word = word << 8 | result.bytes[byte + i - 1];
  return word;
}

// The peer waits for `bytes`, the steps go to it, and both windows are looked at.
Program to_peer(std::uint32_t bytes, const std::vector<Step>& steps) {
  Program program = cluster(2, {by(poison(), kBoth), by({.verb = Verb::init}, kBoth),
                                by(announce(bytes), 2), by({.verb = Verb::cluster_sync}, kBoth)});
  for (const Step& step : steps) program.steps.push_back(in(step, 1));
  program.steps.push_back(by(wait(), 2));
  program.steps.push_back(by(test(0), kBoth));
  program.steps.push_back(by({.verb = Verb::snapshot}, kBoth));
  return program;
}

TEST(VirtualProgram, AVectorOfRegistersLandsInTheWindowOfThePeerAndCreditsItsBarrier) {
  const Program program = to_peer(
      16,
      {{.verb = Verb::st_async, .bytes = 16, .at = {kTileAt + 16}, .word = 0x0123456789abcdef}});
  const RunResult result = run(program);
  EXPECT_EQ(result.trace[5 * 2 + 1], 1U);
  EXPECT_EQ(result.trace[6 * 2], 0U);
  EXPECT_EQ(result.trace[6 * 2 + 1], 1U);
  constexpr std::uint32_t kAt = kWindow + kTileAt + 16;
  EXPECT_EQ(word_at(result, kAt), 0x89abcdefU);
  EXPECT_EQ(word_at(result, kAt + 4), 0x01234567U);
  EXPECT_EQ(word_at(result, kAt + 8), 0x89abcdf0U);
  EXPECT_EQ(word_at(result, kAt + 12), 0x01234568U);
  EXPECT_EQ(result.bytes[kAt - 1], cta_poison_byte(program.payload, 1, kTileAt + 15));
  EXPECT_EQ(result.bytes[kAt + 16], cta_poison_byte(program.payload, 1, kTileAt + 32));
  EXPECT_EQ(result.bytes[kTileAt + 16], cta_poison_byte(program.payload, 0, kTileAt + 16));
}

TEST(VirtualProgram, AllThatIsReducedIntoOneWordCounts) {
  Step sum{.verb = Verb::red_async, .reduction = Reduction::add, .at = {kTileAt + 4}, .word = 7};
  sum.count = 3;
  const Program program = to_peer(24, {sum, sum});
  const RunResult right = run(program);
  std::uint32_t before = 0;
  for (std::uint32_t i = 4; i > 0; --i)
    before = before << 8 | cta_poison_byte(program.payload, 1, kTileAt + 4 + i - 1);
  EXPECT_EQ(word_at(right, kWindow + kTileAt + 4), before + 42);
  EXPECT_EQ(right.trace[6 * 2 + 1], 1U);
}

TEST(VirtualProgram, AReducingSendReducesEachElement) {
  const Program program = to_peer(32, {{.verb = Verb::send,
                                        .reduction = Reduction::bit_xor,
                                        .offset = kTileAt,
                                        .bytes = 32,
                                        .at = {kTileAt}}});
  const RunResult result = run(program);
  for (std::uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(result.bytes[kWindow + kTileAt + i], 0x11) << i;  // the twist between the poisons
  EXPECT_EQ(result.trace[5 * 2 + 1], 1U);
}

TEST(VirtualProgram, ASendReadsItsSourceAnyTimeBeforeItLands) {
  std::uint32_t old = 0, overwritten = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Program program = cluster(2, {by(poison(), kBoth),
                                  by({.verb = Verb::init}, kBoth),
                                  by(announce(32), 2),
                                  by({.verb = Verb::cluster_sync}, kBoth),
                                  send(1),
                                  {.verb = Verb::fill, .offset = kTileAt, .bytes = 32},
                                  by(wait(), 2),
                                  by({.verb = Verb::snapshot}, 2)});
    program.payload.seed = seed;
    const bool is_old =
        run(program).bytes[kTileAt + 16] == cta_poison_byte(program.payload, 0, kTileAt);
    (is_old ? old : overwritten)++;
  }
  EXPECT_GT(old, 0U);
  EXPECT_GT(overwritten, 0U);
}

TEST(VirtualProgram, APrefetchOffSixteenBytesIsStickyAndAnyOtherIsNothing) {
  const RunResult none = run(alone({poison(), {.verb = Verb::init}, {.verb = Verb::snapshot}}));
  const RunResult outside = run(alone({poison(),
                                       {.verb = Verb::init},
                                       {.verb = Verb::prefetch, .at = {-64, 300}},
                                       {.verb = Verb::snapshot}}));
  EXPECT_EQ(outside.bytes, none.bytes);
  EXPECT_EQ(outside.surroundings, none.surroundings);
  EXPECT_EQ(run(alone({{.verb = Verb::prefetch, .at = {8, 0}}})).fault, DeviceFault::sticky);
}

TEST(VirtualProgram, EachBlockHasAWindowAndBarriersOfItsOwn) {
  const Program program =
      cluster(2, {by(poison(), kBoth), by({.verb = Verb::init}, kBoth), by(announce(512), 2),
                  by(load(), 2), by(wait(), 2), by(test(0), 1), by(missing(), kBoth),
                  by({.verb = Verb::snapshot}, kBoth)});
  const RunResult result = run(program);
  EXPECT_EQ(result.trace[5 * 2], 0U);
  EXPECT_EQ(result.trace[6 * 2], 32U);
  EXPECT_EQ(result.trace[6 * 2 + 1], 0U);
  ASSERT_EQ(result.bytes.size(), 2 * kWindow);
  EXPECT_EQ(result.bytes[kTileAt], poison_byte(program.payload, kTileAt));
  EXPECT_EQ(result.bytes[kWindow + kTileAt], tile_byte(program, 0));
}

TEST(VirtualProgram, SnapshotAfterAWaitHoldsTheTileAndPoisonAroundIt) {
  const Program program = alone({poison(),
                                 {.verb = Verb::init},
                                 announce(512),
                                 load(),
                                 wait(),
                                 missing(),
                                 {.verb = Verb::snapshot}});
  const RunResult result = run(program);
  EXPECT_EQ(result.trace[5], 0U);
  ASSERT_EQ(result.bytes.size(), kWindow);
  for (std::uint32_t i = 0; i < kWindow; ++i) {
    const bool inside = i >= kTileAt && i < kTileAt + kTile;
    ASSERT_EQ(result.bytes[i],
              inside ? tile_byte(program, i - kTileAt) : poison_byte(program.payload, i))
        << i;
  }
}

TEST(VirtualProgram, WindowIsNotPoisonBeforeItsPoison) {
  const RunResult result = run(alone({{.verb = Verb::missing, .bytes = kWindow},
                                      {.verb = Verb::poison, .offset = 32, .bytes = 64},
                                      {.verb = Verb::missing, .bytes = kWindow}}));
  EXPECT_EQ(result.trace[0], 0U);
  EXPECT_EQ(result.trace[2], 4U);
}

TEST(VirtualProgram, SnapshotsStandBehindEachOther) {
  const RunResult result =
      run(alone({{.verb = Verb::snapshot}, poison(), {.verb = Verb::snapshot}}));
  ASSERT_EQ(result.bytes.size(), 2 * kWindow);
  EXPECT_NE(result.bytes[0], result.bytes[kWindow]);
}

TEST(VirtualProgram, RegionsComeBackOneBehindTheOther) {
  Program program = alone({});
  program.regions.push_back({.bytes = 64, .element = DataType::tf32});
  const RunResult result = run(program);
  const std::uint64_t first = program.regions[0].bytes;
  ASSERT_EQ(result.surroundings.size(), first + 64);
  EXPECT_EQ(result.surroundings[first - 1], source_byte(program.payload, first - 1));
  const std::uint32_t word = source_element_word(program.payload, DataType::tf32, 15);
  EXPECT_EQ(result.surroundings[first + 63], word >> 24);
}

TEST(VirtualProgram, StepBehindALoadMayFindAnyPartLanded) {
  Program program = alone({poison(), {.verb = Verb::init}, announce(512), load(), missing()});
  std::vector<bool> seen(33);
  for (program.payload.seed = 0; program.payload.seed < 1000; ++program.payload.seed)
    seen[run(program).trace[4]] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 33);
}

TEST(VirtualProgram, AnnouncementBehindALoadComesAtAnyTime) {
  Program program = alone({{.verb = Verb::init}, load(), announce(496), wait(), settle(), test(0)});
  std::size_t completed = 0;
  for (program.payload.seed = 0; program.payload.seed < 200; ++program.payload.seed)
    completed += run(program).trace[5];
  EXPECT_GT(completed, 0U);
  EXPECT_LT(completed, 200U);
}

TEST(VirtualProgram, DelayLandsAllThatIsInFlight) {
  const RunResult result = run(alone(
      {poison(), {.verb = Verb::init}, load(), {.verb = Verb::delay, .ns = kLandNs}, missing()}));
  EXPECT_EQ(result.trace[4], 0U);
}

TEST(VirtualProgram, WaitForThePhaseBeforeReturnsAtOnce) {
  const RunResult result =
      run(alone({poison(), {.verb = Verb::init}, announce(512), load(), wait(1), missing()}));
  EXPECT_EQ(result.trace[4], 1U);
  EXPECT_EQ(result.trace[5], 32U);
}

TEST(VirtualProgram, PhaseEndsWithTheLastOfItsArrivals) {
  const RunResult result = run(alone({{.verb = Verb::init, .count = 5},
                                      announce(0),
                                      {.verb = Verb::arrive, .thread = 1, .count = 3},
                                      test(0),
                                      {.verb = Verb::arrive, .thread = 4},
                                      test(0)}));
  EXPECT_EQ(result.trace[3], 0U);
  EXPECT_EQ(result.trace[5], 1U);
}

TEST(VirtualProgram, BarrierLivesAgainWithAnotherCount) {
  const RunResult result = run(alone({{.verb = Verb::init},
                                      {.verb = Verb::arrive},
                                      {.verb = Verb::inval},
                                      {.verb = Verb::read},
                                      {.verb = Verb::write, .word = 0x0123456789abcdef},
                                      {.verb = Verb::read},
                                      {.verb = Verb::init, .count = 2},
                                      {.verb = Verb::arrive},
                                      test(0),
                                      {.verb = Verb::arrive},
                                      test(0)}));
  EXPECT_EQ(result.trace[3], 0U);
  EXPECT_EQ(result.trace[5], 0x0123456789abcdefU);
  EXPECT_EQ(result.trace[8], 0U);
  EXPECT_EQ(result.trace[10], 1U);
}

TEST(VirtualProgram, CurrentPhaseIsTheOneThatNoWaitHasSeenComplete) {
  const RunResult result = run(alone({{.verb = Verb::init},
                                      test(kCurrentPhase),
                                      test(kLastPhase),
                                      announce(0),
                                      test(kCurrentPhase),
                                      wait(kCurrentPhase),
                                      test(kCurrentPhase),
                                      test(kLastPhase),
                                      announce(0),
                                      wait(kCurrentPhase),
                                      test(0),
                                      test(kCurrentPhase)}));
  const std::vector<std::uint64_t> seen(result.trace.begin() + 1, result.trace.end());
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 0}));
}

TEST(VirtualProgram, MeterMovesTheCurrentPhaseOn) {
  Step next = meter(0, 0);
  next.parity = kCurrentPhase;
  next.pending = 1;
  const RunResult result = run(alone({{.verb = Verb::init},
                                      next,
                                      test(0),
                                      test(kCurrentPhase),
                                      announce(0),
                                      next,
                                      test(0),
                                      test(kCurrentPhase)}));
  EXPECT_EQ(result.trace[1], settled(0));
  EXPECT_EQ(result.trace[2], 1U);
  EXPECT_EQ(result.trace[3], 0U);
  EXPECT_EQ(result.trace[5], settled_next(0));
  EXPECT_EQ(result.trace[6], 1U);  // three phases have completed
  EXPECT_EQ(result.trace[7], 0U);
}

TEST(VirtualProgram, InitSetsTheCurrentPhaseBack) {
  const RunResult result = run(alone({{.verb = Verb::init},
                                      {.verb = Verb::arrive},
                                      wait(kCurrentPhase),
                                      {.verb = Verb::inval},
                                      {.verb = Verb::init},
                                      test(kCurrentPhase),
                                      {.verb = Verb::arrive},
                                      test(kCurrentPhase)}));
  EXPECT_EQ(result.trace[5], 0U);
  EXPECT_EQ(result.trace[7], 1U);
}

TEST(VirtualProgram, WaitInVainStopsItsBlockAndNoOther) {
  const RunResult result =
      run(cluster(2, {by({.verb = Verb::init}, kBoth), by(stopping_wait(), 1), by(poison(), kBoth),
                      by(missing(), kBoth), by({.verb = Verb::cluster_sync}, kBoth),
                      by({.verb = Verb::snapshot}, kBoth)}));
  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_EQ(result.note, "step 1: the wait of CTA 0 on barrier 0 ended by its bound");
  EXPECT_EQ(result.trace[3 * 2], 0U);
  EXPECT_EQ(result.trace[3 * 2 + 1], 32U);
  ASSERT_EQ(result.bytes.size(), 2 * kWindow);
  EXPECT_EQ(result.bytes[kWindow], cta_poison_byte({.seed = 5}, 1, 0));
  EXPECT_FALSE(result.surroundings.empty());
}

TEST(VirtualProgram, NoteNamesTheFirstStop) {
  const RunResult result = run(cluster(
      2, {by({.verb = Verb::init}, kBoth), by(stopping_wait(), 2), by(stopping_wait(), 1)}));
  EXPECT_EQ(result.note, "step 1: the wait of CTA 1 on barrier 0 ended by its bound");
}

TEST(VirtualProgram, WaitInVainThatDoesNotStopGoesOn) {
  const RunResult result = run(alone({{.verb = Verb::init}, wait(), test(1)}));
  EXPECT_EQ(result.fault, DeviceFault::none);
  EXPECT_EQ(result.trace[1], 0U);
  EXPECT_EQ(result.trace[2], 1U);
}

TEST(VirtualProgram, MeterThatDoesNotSettleStops) {
  const RunResult result = run(
      alone({{.verb = Verb::init}, announce(512), {.verb = Verb::meter, .most = 511}, test(1)}));
  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_EQ(result.note, "step 2: the meter of barrier 0 of CTA 0 did not settle");
  EXPECT_EQ(result.trace[2], meter_trace(false, false, 511));
  EXPECT_EQ(result.trace[3], 0U);
}

// The same box, from the window at kTileAt; a region of its own, poisoned.
Program storing(std::vector<Step> steps) {
  Program program = alone(std::move(steps));
  program.regions[0].poison = true;
  return program;
}

Step fill() { return {.verb = Verb::fill, .bytes = kWindow}; }
Step store(std::uint16_t thread = 0) {
  return {.verb = Verb::store, .thread = thread, .offset = kTileAt, .at = {16, 3}};
}
Step commit(std::uint16_t thread = 0) { return {.verb = Verb::commit, .thread = thread}; }
Step wait_group(std::uint32_t pending = 0, std::uint16_t thread = 0) {
  return {.verb = Verb::wait_group, .thread = thread, .pending = pending};
}

// Where the box starts in the region; the last 8 bytes of its first row.
constexpr std::uint64_t kBoxAt = kGuardBytes + 160 * 3 + 16, kRowEnd = kBoxAt + 56;

Step look(std::uint64_t word) { return {.verb = Verb::look, .region = 0, .word = word}; }

std::uint64_t poison_word(std::uint64_t offset) {
  std::uint64_t word = 0;
  for (std::uint64_t i = 0; i < 8; ++i)
    word |= std::uint64_t{poison_byte({.seed = 5}, offset + i)} << (8 * i);
  return word;
}

TEST(VirtualProgram, FillPutsTheWordsOfARegionIntoTheWindow) {
  Program program = alone({poison(),
                           {.verb = Verb::fill, .map = 1, .offset = 32, .bytes = 16},
                           {.verb = Verb::snapshot}});
  program.maps.push_back(program.maps[0]);
  program.maps[1].spec.type = DataType::tf32;
  program.maps[1].spec.extent[0] = 40;
  program.maps[1].spec.box[0] = 16;
  const RunResult result = run(program);
  EXPECT_EQ(result.bytes[31], poison_byte(program.payload, 31));
  for (std::uint32_t i = 32; i < 48; ++i)
    EXPECT_EQ(result.bytes[i],
              static_cast<std::uint8_t>(
                  source_element_word(program.payload, DataType::tf32, i / 4) >> (8 * (i % 4))))
        << i;
  EXPECT_EQ(result.bytes[48], poison_byte(program.payload, 48));
}

TEST(VirtualProgram, LookReadsARegionAsItIsThen) {
  const RunResult result = run(storing({fill(),
                                        store(),
                                        commit(),
                                        look(kBoxAt),
                                        wait_group(),
                                        look(kBoxAt),
                                        look(kRowEnd + 8),
                                        {.verb = Verb::look}}));
  EXPECT_EQ(result.trace[3], poison_word(kBoxAt));
  EXPECT_EQ(result.trace[5], source_word({.seed = 5}, kTileAt / 8));
  EXPECT_EQ(result.trace[6], poison_word(kRowEnd + 8));
  EXPECT_EQ(result.trace[7], 0U);
}

TEST(VirtualProgram, WaitGroupReadsWhenItsGroupsHaveLanded) {
  Step wait = wait_group();
  wait.region = 0;
  wait.word = kRowEnd;
  const RunResult result = run(storing({fill(), store(), commit(), wait}));
  EXPECT_EQ(result.trace[3], source_word({.seed = 5}, (kTileAt + 56) / 8));
}

TEST(VirtualProgram, GroupsBelongToTheThreadThatCommitsThem) {
  Program program =
      storing({fill(), store(7), commit(7), wait_group(0, 8), look(kBoxAt), wait_group(0, 7)});
  program.steps[5].region = 0;
  program.steps[5].word = kBoxAt;
  std::size_t landed = 0;
  for (program.payload.seed = 0; program.payload.seed < 200; ++program.payload.seed) {
    const RunResult result = run(program);
    const std::uint64_t stored = source_word(program.payload, kTileAt / 8);
    EXPECT_EQ(result.trace[5], stored) << program.payload.seed;
    landed += result.trace[4] == stored ? 1 : 0;
  }
  EXPECT_GT(landed, 0U);
  EXPECT_LT(landed, 200U);
}

TEST(VirtualProgram, EachCtaStoresFromItsOwnWindow) {
  Program program = cluster(2, {by(fill(), kBoth), by(poison(), 2), by(store(), 2), by(commit(), 2),
                                by(wait_group(), 2), look(kBoxAt)});
  program.regions[0].poison = true;
  const RunResult result = run(program);
  EXPECT_EQ(result.trace[2 * 5] & 0xffU, cta_poison_byte(program.payload, 1, kTileAt));
}

TEST(VirtualProgram, WaitGroupReadOverwritesItsRangeWithTheComplement) {
  const RunResult result =
      run(storing({fill(),
                   store(),
                   commit(),
                   {.verb = Verb::wait_group_read, .offset = 1024, .bytes = 16},
                   wait_group(),
                   look(kBoxAt),
                   {.verb = Verb::snapshot}}));
  EXPECT_EQ(result.trace[5], source_word({.seed = 5}, kTileAt / 8));
  EXPECT_EQ(result.bytes[1023], source_byte({.seed = 5}, 1023));
  for (std::uint32_t i = 1024; i < 1040; ++i)
    EXPECT_EQ(result.bytes[i] ^ source_byte({.seed = 5}, i), 0xff) << i;
  EXPECT_EQ(result.bytes[1040], source_byte({.seed = 5}, 1040));
}

TEST(VirtualProgram, DelayLandsStoresThatNobodyCommitted) {
  const RunResult result =
      run(storing({fill(), store(), {.verb = Verb::delay, .ns = kLandNs}, look(kBoxAt)}));
  EXPECT_EQ(result.trace[3], source_word({.seed = 5}, kTileAt / 8));
}

TEST(VirtualProgram, StepsBehindLeaveAreTakenAndWhatTheyStoreLands) {
  const RunResult result = run(
      storing({fill(), {.verb = Verb::leave}, store(), commit(), {.verb = Verb::wait_group_read}}));
  for (std::uint32_t i = 0; i < kTile; ++i)
    ASSERT_EQ(result.surroundings[kBoxAt + 160 * (i / 64) + i % 64],
              source_byte({.seed = 5}, kTileAt + i))
        << i;
}

TEST(VirtualProgram, ChecksOfAProgramThatIsLeftComeBefore) {
  const Program program = with_checks(storing({fill(), {.verb = Verb::leave}, store()}));
  ASSERT_EQ(program.steps.size(), 6U);
  EXPECT_EQ(program.steps[3].verb, Verb::snapshot);
  EXPECT_EQ(program.steps[4].verb, Verb::leave);
  EXPECT_EQ(run(program).bytes[0], source_byte({.seed = 5}, 0));
}

TEST(VirtualProgram, NegativeCoordinateOfAStoreIsSticky) {
  Program program = storing({store()});
  program.steps[0].at[1] = -1;
  const RunResult result = run(program);
  EXPECT_EQ(result.fault, DeviceFault::sticky);
  EXPECT_EQ(result.code, kIllegalInstruction);
  EXPECT_NE(result.note.find("coordinate -1 of dimension 1 is negative"), std::string::npos);
}

TEST(VirtualProgram, RefusedMapIsAValue) {
  Program program = alone({{.verb = Verb::init}});
  program.maps[0].spec.stride = {152};
  const RunResult result = run(program);
  EXPECT_EQ(result.fault, DeviceFault::encode_refused);
  EXPECT_EQ(result.code, kEncodeRefusedCode);
  EXPECT_NE(result.note.find("stride 152"), std::string::npos) << result.note;
}

TEST(VirtualProgram, InnerCoordinateOff16BytesIsSticky) {
  Program program = alone({{.verb = Verb::init}, load()});
  program.steps[1].at = {17, 3};
  const RunResult result = run(program);
  EXPECT_EQ(result.fault, DeviceFault::sticky);
  EXPECT_EQ(result.code, kIllegalInstruction);
}

TEST(VirtualProgram, OffsetOff128BytesIsSticky) {
  Program program = alone({{.verb = Verb::init}, load()});
  program.steps[1].offset = 64;
  const RunResult result = run(program);
  EXPECT_EQ(result.fault, DeviceFault::sticky);
  EXPECT_EQ(result.code, kMisalignedAddress);
}

TEST(VirtualProgram, UnsoundProgramIsAnError) {
  EXPECT_EQ(error_of(alone({{.verb = Verb::init, .barrier = 2}})),
            "program: step 0: barrier 2 of 2");
}

TEST(VirtualProgram, WindowBeyondSharedMemoryIsAnError) {
  Program program = alone({});
  program.window = 232448;
  EXPECT_EQ(error_of(program), "");
  program.window += 16;
  EXPECT_NE(error_of(program).find("232464 bytes does not fit"), std::string::npos);
}

TEST(VirtualProgram, RegionBeyondAGibibyteIsAnError) {
  Program program = alone({});
  program.regions[0].bytes = (std::uint64_t{1} << 30) + 16;
  EXPECT_NE(error_of(program).find("region 0 has 1073741840 bytes"), std::string::npos);
}

TEST(VirtualProgram, CountBeyondItsRangeIsAnErrorThatNamesTheStep) {
  EXPECT_EQ(error_of(alone({{.verb = Verb::init}, announce(kTxCountMax), announce(1)})),
            "program: step 2: mbarrier: tx-count 1048576 is outside -(2^20-1)..2^20-1");
}

TEST(VirtualProgram, ArrivalTooManyIsAnError) {
  EXPECT_EQ(error_of(alone({{.verb = Verb::init}, announce(16), {.verb = Verb::arrive}})),
            "program: step 2: mbarrier: an arrival more than the phase expects (pending count is "
            "0)");
}

TEST(VirtualProgram, BarrierBeforeInitAndBehindInvalIsAnError) {
  const std::string why = "barrier 0 of CTA 0 is not initialized";
  EXPECT_EQ(error_of(alone({test(0)})), "program: step 0: " + why);
  EXPECT_EQ(error_of(alone({{.verb = Verb::init}, {.verb = Verb::inval}, announce(0)})),
            "program: step 2: " + why);
}

TEST(VirtualProgram, MemoryOfABarrierThatLivesIsAnError) {
  const std::string why = "program: step 1: barrier 0 of CTA 0 is initialized; inval it first";
  EXPECT_EQ(error_of(alone({{.verb = Verb::init}, {.verb = Verb::init}})), why);
  EXPECT_EQ(error_of(alone({{.verb = Verb::init}, {.verb = Verb::write}})), why);
  EXPECT_EQ(error_of(alone({{.verb = Verb::init}, {.verb = Verb::read}})), why);
}

}  // namespace
}  // namespace tidemark
