// The oracle of programs by hand, and its checker where it must complain.
#include "suite/oracle/program.hpp"

#include <algorithm>
#include <functional>

#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "kernels/ops/program/checks.hpp"
#include "suite/testing/scripted_device.hpp"

namespace tidemark {
namespace {

/// A box of 32 x 3 bytes, 96 in all.
ExpectTx box(std::uint32_t announced) {
  ExpectTx op;
  op.load.map.extent = {64, 5};
  op.load.map.stride = {80};
  op.load.map.box = {32, 3};
  op.announced = announced;
  return op;
}

ExpectTx with(std::uint32_t announced, Arrival arrival, IssueOrder order) {
  ExpectTx op = box(announced);
  op.arrival = arrival;
  op.order = order;
  return op;
}

/// What is expected of the first step of `verb` on barrier `barrier` of CTA `cta`.
ExpectedTrace first_trace(const ExpectTx& op, Verb verb, std::uint32_t cta = 0,
                          std::uint8_t barrier = 0) {
  const Program program = checked_program(op);
  const ProgramExpectation expected = predict(program);
  for (std::size_t i = 0; i < program.steps.size(); ++i)
    if (program.steps[i].verb == verb && takes(program.steps[i], cta) &&
        program.steps[i].barrier == barrier)
      return expected.trace[i * ctas_of(program) + cta];
  ADD_FAILURE() << "no such step";
  return {};
}

enum class Completion { never, completes, open };

Completion completion(const ExpectTx& op, std::uint32_t cta = 0, std::uint8_t barrier = 0) {
  const ExpectedTrace meter = first_trace(op, Verb::meter, cta, barrier);
  if ((meter.judged & kMeterComplete) == 0) return Completion::open;
  return (meter.value & kMeterComplete) != 0 ? Completion::completes : Completion::never;
}

std::int32_t residue(const ExpectTx& op, std::uint32_t cta = 0, std::uint8_t barrier = 0) {
  return residue_of(first_trace(op, Verb::meter, cta, barrier).value);
}

TEST(ProgramOracle, ExactCompletes) {
  EXPECT_EQ(completion(box(96)), Completion::completes);
  EXPECT_EQ(residue(box(96)), 0);
  EXPECT_EQ(first_trace(box(96), Verb::wait).value, 1U);
}

TEST(ProgramOracle, OverNeverCompletesAndLeavesTheDifference) {
  EXPECT_EQ(completion(box(97)), Completion::never);
  EXPECT_EQ(residue(box(97)), 1);
  EXPECT_EQ(first_trace(box(97), Verb::wait).value, 0U);
}

TEST(ProgramOracle, UnderIsOpenWhileTheCopyIsInFlight) {
  EXPECT_EQ(completion(box(80)), Completion::open);
  EXPECT_EQ(residue(box(80)), -16);
  EXPECT_EQ(first_trace(box(80), Verb::wait).judged, 0U);
}

TEST(ProgramOracle, UnderNeverCompletesOnceAllHasLanded) {
  const Arrival with_it = Arrival::with_announcement;
  EXPECT_EQ(completion(with(80, with_it, IssueOrder::landed_first)), Completion::never);
  EXPECT_EQ(completion(with(80, Arrival::late, IssueOrder::announced_first)), Completion::never);
}

TEST(ProgramOracle, ZeroCompletesBeforeTheIssueAndNeverAfterTheLanding) {
  const Arrival plain = Arrival::separate;
  EXPECT_EQ(completion(with(0, plain, IssueOrder::announced_first)), Completion::completes);
  EXPECT_EQ(completion(with(0, plain, IssueOrder::issued_first)), Completion::open);
  EXPECT_EQ(completion(with(0, plain, IssueOrder::landed_first)), Completion::never);
}

TEST(ProgramOracle, NothingCompletesWithoutAnArrival) {
  const ExpectTx op = with(96, Arrival::missing, IssueOrder::announced_first);
  EXPECT_EQ(completion(op), Completion::never);
  EXPECT_NE(first_trace(op, Verb::meter).value & kMeterSettled, 0U);
}

TEST(ProgramOracle, TwoHalvesMakeAWhole) {
  ExpectTx op = box(48);
  op.announcements = 2;
  EXPECT_EQ(completion(op), Completion::completes);
}

TEST(ProgramOracle, WhatIsAnnouncedForThePeerIsPendingThere) {
  ExpectTx op = box(96);
  op.on = AnnouncedOn::peer;
  EXPECT_EQ(residue(op, 0, 0), -96);
  EXPECT_EQ(residue(op, 0, 1), 0);
  EXPECT_EQ(residue(op, 1, 0), 96);
  EXPECT_EQ(residue(op, 1, 1), 0);
}

TEST(ProgramOracle, OnlyTheCtaThatLoadsHasTheBox) {
  ExpectTx op = box(96);
  op.on = AnnouncedOn::peer;
  const ProgramExpectation expected = predict(checked_program(op));
  ASSERT_GE(expected.snapshots.size(), 2U);
  EXPECT_EQ(expected.snapshots[0].window.bytes[1024], source_byte(op.load.payload, 1024));
  EXPECT_EQ(expected.snapshots[1].window.bytes[1024], cta_poison_byte(op.load.payload, 1, 1024));
}

TEST(ProgramOracle, PlainArrivalHereCompletesWhatWasAnnouncedElsewhere) {
  ExpectTx op = with(96, Arrival::separate, IssueOrder::announced_first);
  op.on = AnnouncedOn::other_barrier;
  EXPECT_EQ(completion(op, 0, 0), Completion::completes);
  EXPECT_EQ(completion(op, 0, 1), Completion::never);
}

TEST(ProgramOracle, OldParityReturnsUntilThePhaseIsComplete) {
  ExpectTx op = box(97);
  op.parity = 1;
  EXPECT_EQ(first_trace(op, Verb::wait).value, 1U);
  op.announced = 0;
  EXPECT_EQ(first_trace(op, Verb::wait).value, 0U);
}

TEST(ProgramOracle, OldParityIsARaceWhileThePhaseIsAboutToComplete) {
  ExpectTx op = box(96);
  op.parity = 1;
  EXPECT_EQ(first_trace(op, Verb::wait).judged, 0U);
}

TEST(ProgramOracle, CreditByHandMeetsZeroOrJumpsOverIt) {
  ExpectTx op = box(512);
  op.simulated = {512, 256};
  EXPECT_EQ(completion(op), Completion::completes);
  op.announced = 528;
  EXPECT_EQ(completion(op), Completion::never);
  EXPECT_EQ(residue(op), -240);
}

TEST(ProgramOracle, RefusesWhatTheDocumentsLeaveUndefined) {
  EXPECT_THROW(checked_program(box(1U << 20)), Error);
  ExpectTx thrice = box(16);
  thrice.announcements = 3;
  EXPECT_THROW(checked_program(thrice), Error);
  ExpectTx none = box(16);
  none.announcements = 0;
  EXPECT_THROW(checked_program(none), Error);
  ExpectTx gap = box(16);
  gap.simulated = {0, 16};
  EXPECT_THROW(checked_program(gap), Error);
  ExpectTx bottom = box(16);
  bottom.simulated = {(1U << 20) - 1, 0};
  EXPECT_THROW(checked_program(bottom), Error);
}

/// A program of one CTA whose barrier 0 expects one arrival, with `steps` behind the init.
Program of(const std::vector<Step>& steps) {
  const TileLoad load = box(0).load;
  Program program{
      .window = window_bytes(load),
      .barriers = 1,
      .regions = {region_of(load)},
      .maps = {{.spec = load.map}},
      .steps = {{.verb = Verb::poison, .bytes = window_bytes(load)}, {.verb = Verb::init}},
      .payload = load.payload};
  program.steps.insert(program.steps.end(), steps.begin(), steps.end());
  return program;
}

constexpr Step kLoad{.verb = Verb::load, .offset = 1024};
constexpr Step kAnnounce{.verb = Verb::arrive_expect_tx, .bytes = 96};
constexpr Step kSnapshot{.verb = Verb::snapshot};

TEST(ProgramOracle, UntilItIsSeenToLandABoxMayBeThereOrNot) {
  const ProgramExpectation expected = predict(of({kAnnounce, kLoad, kSnapshot}));
  const ExpectedWindow& window = expected.snapshots.at(0).window;
  ASSERT_EQ(window.other.size(), window.bytes.size());
  EXPECT_EQ(window.bytes[1024], poison_byte({}, 1024));
  EXPECT_EQ(window.other[1024], source_byte({}, 1024));
  EXPECT_EQ(window.other[1023], window.bytes[1023]);
}

/// CTA 0 reads the first word of the tensor, then `between`, then CTA 1 stores a box there.
ProgramExpectation read_before_a_store(const std::vector<Step>& between) {
  Program program = of({{.verb = Verb::look, .ctas = 1, .region = 0, .word = kGuardBytes}});
  program.cluster = {2, 1, 1};
  program.steps.insert(program.steps.end(), between.begin(), between.end());
  const std::vector<Step> steps{{.verb = Verb::store, .ctas = 2, .offset = 1024},
                                {.verb = Verb::commit, .ctas = 2},
                                {.verb = Verb::wait_group, .ctas = 2}};
  program.steps.insert(program.steps.end(), steps.begin(), steps.end());
  return predict(program);
}

TEST(ProgramOracle, AWordThatAnotherCtaStoresToIsOpenAlsoWhereItsStepIsLater) {
  EXPECT_EQ(read_before_a_store({}).trace[2 * 2].judged, 0U);
}

TEST(ProgramOracle, AWordReadBeforeTheCtasMeetIsThatOfBeforeTheStore) {
  const Step meet{.verb = Verb::cluster_sync, .ctas = 3};
  EXPECT_EQ(read_before_a_store({meet}).trace[2 * 2].judged, ~std::uint64_t{0});
}

TEST(ProgramOracle, ATestIsOpenWhileTheCopyIsInFlight) {
  const ProgramExpectation expected = predict(of({kAnnounce, kLoad, {.verb = Verb::test}}));
  EXPECT_EQ(expected.trace[4].judged, 0U);
}

TEST(ProgramOracle, ATestIsCertainWhileAnArrivalIsMissing) {
  const Step expect{.verb = Verb::expect_tx, .bytes = 96};
  const ProgramExpectation expected = predict(of({expect, kLoad, {.verb = Verb::test}}));
  EXPECT_EQ(expected.trace[4].value, 0U);
  EXPECT_NE(expected.trace[4].judged, 0U);
}

TEST(ProgramOracle, AWaitInVainStopsTheProgram) {
  const Step wait{.verb = Verb::wait, .stops = true, .ns = kSettleNs};
  const ProgramExpectation expected =
      predict(of({wait, {.verb = Verb::test, .parity = 1}, kSnapshot}));
  EXPECT_EQ(expected.trace[2].value, 0U);
  EXPECT_EQ(expected.trace[3].value, 0U);
  EXPECT_EQ(expected.snapshots.size(), 1U);
}

TEST(ProgramOracle, ABarrierThatWasInvalidatedIsPlainMemory) {
  const ProgramExpectation expected =
      predict(of({{.verb = Verb::inval}, {.verb = Verb::write, .word = 77}, {.verb = Verb::read}}));
  EXPECT_EQ(expected.trace[4].value, 77U);
}

TEST(ProgramOracle, RefusesUndefinedSteps) {
  EXPECT_THROW(predict(of({kAnnounce, kAnnounce, kAnnounce, kLoad})),
               Error);  // an arrival too many
  EXPECT_THROW(predict(of({{.verb = Verb::inval}, kAnnounce})), Error);
  EXPECT_THROW(predict(of({{.verb = Verb::init}})), Error);
  EXPECT_THROW(predict(of({{.verb = Verb::read}})), Error);
  EXPECT_THROW(predict(of({{.verb = Verb::meter, .count = 1, .pending = 2}})), Error);
}

constexpr Step kMeet{.verb = Verb::cluster_sync, .ctas = 3};
constexpr Step kSend{.verb = Verb::send, .of = 1, .offset = 1024, .bytes = 32, .at = {1040}};
constexpr Step kToldOfSend{.verb = Verb::arrive_expect_tx, .ctas = 2, .bytes = 32};
constexpr Step kWaitInPeer{.verb = Verb::wait, .ctas = 2, .stops = true, .ns = kMustCompleteNs};
constexpr Step kOverwrite{.verb = Verb::fill, .offset = 1040, .bytes = 16};
constexpr Step kSnapshotInPeer{.verb = Verb::snapshot, .ctas = 2};

/// Two CTAs that take `steps` behind their inits.
Program of_two(const std::vector<Step>& steps) {
  Program program = of({});
  program.cluster = {2, 1, 1};
  for (Step& step : program.steps) step.ctas = 3;
  program.steps.insert(program.steps.end(), steps.begin(), steps.end());
  return program;
}

// CTA 1 takes the byte off that CTA 0 waits for, behind the init of both and one meeting.
constexpr Step kOneByte{.verb = Verb::arrive_expect_tx, .bytes = 1};
constexpr Step kTakenByPeer{.verb = Verb::complete_tx, .ctas = 2, .of = 0, .bytes = 1};

TEST(ProgramOracle, WhatAnotherCtaDoesToABarrierMayComeLateUntilTheyMeet) {
  const Step test{.verb = Verb::test};
  const ExpectedTrace late = predict(of_two({kMeet, kOneByte, kTakenByPeer, test})).trace.at(2 * 5);
  EXPECT_EQ(late.judged, 0U);
  const ExpectedTrace met =
      predict(of_two({kMeet, kOneByte, kTakenByPeer, kMeet, test})).trace.at(2 * 6);
  EXPECT_EQ(met.judged, ~std::uint64_t{0});
  EXPECT_EQ(met.value, 1U);
}

TEST(ProgramOracle, ArrivalsAreCountedWhereNoOtherCtaCanCome) {
  const Step wait{.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs};
  const Step counted{.verb = Verb::pending_count}, arrive{.verb = Verb::arrive, .ctas = 2, .of = 0};
  const auto with_three = [](std::vector<Step> steps) {
    Program program = of_two(steps);
    for (Step& step : program.steps)
      if (step.verb == Verb::init) step.count = 3;
    return program;
  };
  EXPECT_THROW(predict(with_three({kMeet, arrive, counted})), Error);
  EXPECT_THROW(predict(with_three({kMeet, counted, arrive})), Error);
  EXPECT_NO_THROW(predict(with_three({kMeet, arrive, kMeet, counted})));
  const Step ours{.verb = Verb::arrive, .count = 2};
  EXPECT_THROW(predict(with_three({kMeet, arrive, ours, counted})), Error);
  EXPECT_NO_THROW(predict(with_three({kMeet, arrive, ours, wait, counted})));
}

TEST(ProgramOracle, WhatIsSentMayBeThereUntilThePhaseIsSeenAndMustBeThen) {
  const ProgramExpectation expected =
      predict(of_two({kMeet, kToldOfSend, kSend, kSnapshotInPeer, kWaitInPeer, kSnapshotInPeer}));
  const ExpectedWindow& open = expected.snapshots.at(0).window;
  EXPECT_EQ(open.bytes[1040], cta_poison_byte({}, 1, 1040));
  EXPECT_EQ(open.other[1040], cta_poison_byte({}, 0, 1024));
  const ExpectedWindow& seen = expected.snapshots.at(1).window;
  EXPECT_TRUE(seen.other.empty());
  EXPECT_EQ(seen.bytes[1040], cta_poison_byte({}, 0, 1024));
  EXPECT_EQ(seen.bytes[1072], cta_poison_byte({}, 1, 1072));
}

TEST(ProgramOracle, ASendIsReadUntilItsPhaseIsSeenAndTheCtasHaveMet) {
  const std::vector<Step> sent{kMeet, kToldOfSend, kSend, kWaitInPeer};
  std::vector<Step> steps = sent;
  steps.push_back(kOverwrite);
  EXPECT_THROW(predict(of_two(steps)), Error);
  steps.back() = kMeet;
  steps.push_back(kOverwrite);
  EXPECT_NO_THROW(predict(of_two(steps)));
  EXPECT_THROW(predict(of_two({kMeet, kToldOfSend, kSend, kMeet, kOverwrite})), Error);
}

TEST(ProgramOracle, ASenderNeedsToMeetWhoInitializedTheBarrierAndUsedTheWindow) {
  EXPECT_THROW(predict(of_two({kToldOfSend, kSend})), Error);
  EXPECT_THROW(predict(of_two({kMeet, kToldOfSend, kSnapshotInPeer, kSend})), Error);
  EXPECT_NO_THROW(predict(of_two({kToldOfSend, kSnapshotInPeer, kMeet, kSend})));
}

TEST(ProgramOracle, NothingElseIsDoneToWhereASendLands) {
  Step fill = kOverwrite, load = kLoad;
  fill.ctas = load.ctas = 2;
  EXPECT_THROW(predict(of_two({kMeet, kToldOfSend, kSend, fill})), Error);
  EXPECT_THROW(predict(of_two({kMeet, kToldOfSend, kSend, load})), Error);
  EXPECT_THROW(predict(of_two({kMeet, kToldOfSend, kSend, kSend})), Error);
  EXPECT_THROW(predict(of_two({kMeet, kToldOfSend, load, kSend})), Error);
}

TEST(ProgramOracle, ASendFromWhereALoadLandsOrToItselfIsRefused) {
  Step own = kSend;
  own.of = kOwnCta;
  EXPECT_THROW(predict(of({kLoad, own})), Error);
  EXPECT_THROW(predict(of({own})), Error);
  own.at[0] = 1056;
  EXPECT_NO_THROW(predict(of({own})));
}

TEST(ProgramOracle, RefusesAPrefetchOff16Bytes) {
  EXPECT_NO_THROW(predict(of({{.verb = Verb::prefetch, .at = {-16, 9}}})));
  EXPECT_THROW(predict(of({{.verb = Verb::prefetch, .at = {8, 0}}})), Error);
}

/// Two CTAs; map 1 is made of map 0.
Program remapping(std::vector<Step> steps) {
  Program program = of(std::move(steps));
  program.cluster = {2, 1, 1};
  program.maps.push_back(program.maps[0]);
  program.maps[1].from = 0;
  return program;
}

constexpr Step kReplace{.verb = Verb::replace, .map = 1};

Step acquired(std::uint8_t map, std::uint16_t ctas, Scope scope = Scope::gpu) {
  return {.verb = Verb::acquire, .ctas = ctas, .map = map, .scope = scope};
}
Step used(std::uint8_t map, std::uint16_t ctas) {
  return {.verb = Verb::prefetch, .ctas = ctas, .map = map};
}

TEST(ProgramOracle, AMapThatTheHostWroteIsAcquiredAtScopeSys) {
  EXPECT_NO_THROW(predict(remapping({acquired(0, 3, Scope::sys), used(0, 3)})));
  EXPECT_THROW(predict(remapping({acquired(0, 3), used(0, 3)})), Error);
  EXPECT_THROW(predict(remapping({used(0, 1)})), Error);
}

TEST(ProgramOracle, EachCtaAcquiresAMapThatWasReplaced) {
  EXPECT_NO_THROW(predict(remapping({kReplace, acquired(1, 1, Scope::cta), used(1, 1)})));
  EXPECT_NO_THROW(predict(remapping({kReplace, kMeet, acquired(1, 3), used(1, 3)})));
  EXPECT_THROW(predict(remapping({kReplace, used(1, 1)})), Error);
  EXPECT_THROW(predict(remapping({kReplace, kMeet, acquired(1, 1), used(1, 2)})), Error);
}

TEST(ProgramOracle, AnotherCtasMapNeedsAMeetingAndAScopeOfBoth) {
  Step of_cta = kReplace;
  of_cta.scope = Scope::cta;
  EXPECT_THROW(predict(remapping({kReplace, acquired(1, 2)})), Error);
  EXPECT_THROW(predict(remapping({kMeet, kReplace, acquired(1, 2)})), Error);
  EXPECT_THROW(predict(remapping({of_cta, kMeet, acquired(1, 2)})), Error);
  EXPECT_THROW(predict(remapping({kReplace, kMeet, acquired(1, 2, Scope::cta)})), Error);
}

TEST(ProgramOracle, AMapThatIsGoneOrNotYetThereIsRefused) {
  EXPECT_THROW(predict(remapping({acquired(1, 1, Scope::sys)})), Error);
  EXPECT_THROW(predict(remapping({kReplace, acquired(0, 1, Scope::sys)})), Error);
  EXPECT_THROW(predict(remapping({kReplace, kReplace})), Error);
}

// On an H100 loads by such a map still round, or end in CUDA error 715.
TEST(ProgramOracle, AMapOfTf32IsOfNoOtherTypeAfterwards) {
  Program program = remapping({kReplace});
  program.maps[0].spec.type = program.maps[1].spec.type = DataType::tf32;
  EXPECT_NO_THROW(predict(program));
  program.maps[1].spec.type = DataType::f32;
  EXPECT_THROW(predict(program), Error);
  std::swap(program.maps[0].spec.type, program.maps[1].spec.type);
  EXPECT_NO_THROW(predict(program));
}

TEST(ProgramOracle, ZerosBecomeAMapInSharedMemoryAlone) {
  Step in_place = kReplace;
  in_place.in_place = true;
  EXPECT_NO_THROW(predict(remapping({in_place})));
  Program zeroed = remapping({kReplace});
  zeroed.maps[1].from = kZeroed;
  EXPECT_NO_THROW(predict(zeroed));
  zeroed.steps.back() = in_place;
  EXPECT_THROW(predict(zeroed), Error);
}

TEST(ProgramOracle, AMapInUseIsNotReplaced) {
  const Step sys = acquired(0, 3, Scope::sys);
  const std::vector<Step> load{
      sys, {.verb = Verb::arrive_expect_tx, .bytes = 96}, {.verb = Verb::load, .offset = 1024}};
  std::vector<Step> seen = load, unseen = load;
  seen.push_back({.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs});
  for (std::vector<Step>* steps : {&seen, &unseen}) steps->insert(steps->end(), {kMeet, kReplace});
  EXPECT_NO_THROW(predict(remapping(seen)));
  EXPECT_THROW(predict(remapping(unseen)), Error);
  EXPECT_THROW(predict(remapping({sys, used(0, 1), kMeet, kReplace})), Error);  // nobody is told
  EXPECT_THROW(predict(remapping({sys, kReplace})), Error);  // the other CTA acquires
  EXPECT_NO_THROW(predict(remapping({sys, kMeet, kReplace})));
}

/// Three CTAs, all of which meet where two would.
Program of_three(const std::vector<Step>& steps) {
  Program program = of_two(steps);
  program.cluster = {3, 1, 1};
  for (Step& step : program.steps)
    if (step.verb == Verb::init || step.verb == Verb::cluster_sync) step.ctas = 7;
  return program;
}

Step red(Reduction reduction, std::uint64_t word, std::uint16_t ctas = 1) {
  return {.verb = Verb::red_async,
          .ctas = ctas,
          .of = 1,
          .reduction = reduction,
          .at = {1040},
          .word = word};
}
constexpr Step kStAsync{.verb = Verb::st_async, .of = 1, .bytes = 4, .at = {1040}, .word = 3};
constexpr Step kFillInPeer{.verb = Verb::fill, .ctas = 2, .offset = 1040, .bytes = 16};

std::uint32_t word_at(const std::vector<std::uint8_t>& bytes, std::size_t at) {
  std::uint32_t word = 0;
  for (std::size_t i = 4; i > 0; --i) word = word << 8 | bytes[at + i - 1];
  return word;
}

TEST(ProgramOracle, WhatSeveralCtasReduceAddsUpAndIsOpenUntilThePhaseIsSeen) {
  Step told = kToldOfSend;
  told.bytes = 4;
  Step again = told;
  again.bytes = 12;
  const ProgramExpectation expected = predict(of_three({kMeet,
                                                        told,
                                                        kStAsync,
                                                        kWaitInPeer,
                                                        again,
                                                        kMeet,
                                                        red(Reduction::add, 10, 5),
                                                        red(Reduction::add, 100),
                                                        kSnapshotInPeer,
                                                        {.verb = Verb::wait,
                                                         .ctas = 2,
                                                         .parity = kCurrentPhase,
                                                         .stops = true,
                                                         .ns = kMustCompleteNs},
                                                        kSnapshotInPeer}));
  const ExpectedWindow& open = expected.snapshots.at(0).window;
  EXPECT_EQ(std::count(open.compare.begin(), open.compare.end(), Compare::recorded), 4);
  EXPECT_EQ(open.compare.at(1043), Compare::recorded);
  const ExpectedWindow& seen = expected.snapshots.at(1).window;
  EXPECT_TRUE(seen.compare.empty());
  EXPECT_EQ(word_at(seen.bytes, 1040), 123U);
  EXPECT_EQ(word_at(seen.bytes, 1044), word_at(open.bytes, 1044));
}

TEST(ProgramOracle, ReductionsWhoseOrderMattersMayNotMeet) {
  const auto both = [](const Step& one, const Step& other) {
    Step told = kToldOfSend;
    told.bytes = 8;
    return of_three({kMeet, told, one, other});
  };
  EXPECT_NO_THROW(predict(both(red(Reduction::add, 1), red(Reduction::add, 2))));
  EXPECT_NO_THROW(predict(both(red(Reduction::inc, 5), red(Reduction::inc, 5, 4))));
  EXPECT_THROW(predict(both(red(Reduction::inc, 5), red(Reduction::inc, 6))), Error);
  EXPECT_THROW(predict(both(red(Reduction::add, 1), red(Reduction::min, 1))), Error);
  EXPECT_THROW(predict(both(red(Reduction::add, 1), kStAsync)), Error);
  EXPECT_THROW(predict(both(kStAsync, kStAsync)), Error);
}

TEST(ProgramOracle, ACopyTakesWhatRegistersWroteBehindAFence) {
  Step told = kToldOfSend, back = kSend;
  told.bytes = 4;
  back.ctas = 2;
  back.of = 0;
  back.offset = 1040;
  back.bytes = 16;
  std::vector<Step> steps{kMeet, told, kStAsync, kWaitInPeer, kMeet, back};
  EXPECT_THROW(predict(of_two(steps)), Error);
  back.offset = 1056;
  steps.back() = back;
  EXPECT_NO_THROW(predict(of_two(steps)));
  back.offset = 1040;
  steps.back() = back;
  steps.insert(steps.begin() + 4, kFillInPeer);
  EXPECT_NO_THROW(predict(of_two(steps)));
}

TEST(ProgramOracle, EachThreadOfAReductionCounts) {
  Step told = kToldOfSend, put = kToldOfSend, sum = red(Reduction::add, 10);
  put.bytes = 4;
  told.bytes = 128;
  sum.count = 32;
  Step wait = kWaitInPeer;
  wait.parity = kCurrentPhase;
  const ProgramExpectation expected =
      predict(of_two({kMeet, put, kStAsync, kWaitInPeer, told, kMeet, sum, wait, kSnapshotInPeer}));
  EXPECT_EQ(word_at(expected.snapshots.at(0).window.bytes, 1040), 323U);
}

TEST(ProgramOracle, WhatIsDefinedOfOtherCtasAloneIsRefused) {
  Step own = kStAsync, send = kSend;
  own.of = 0;
  EXPECT_NO_THROW(predict(of_two({kMeet, own})));
  EXPECT_THROW(predict(of({own})), Error);
  EXPECT_THROW(predict(of_two({kMeet, red(Reduction::add, 1, 2)})), Error);
  send.reduction = Reduction::add;
  EXPECT_NO_THROW(predict(of_two({kMeet, send})));
  send.of = kOwnCta;
  send.at[0] = 1056;
  EXPECT_THROW(predict(of_two({kMeet, send})), Error);
}

TEST(ProgramOracle, RegistersGoToThePeerBehindAMeeting) {
  EXPECT_THROW(predict(of_two({kToldOfSend, kStAsync})), Error);
  EXPECT_THROW(predict(of_two({kMeet, kFillInPeer, kStAsync})), Error);
  EXPECT_NO_THROW(predict(of_two({kFillInPeer, kMeet, kStAsync})));
}

TEST(ProgramOracle, NobodyWritesToWhereAPhaseLandedBeforeTheyHaveMet) {
  const std::vector<Step> landed{kMeet, kToldOfSend, kSend, kWaitInPeer};
  std::vector<Step> steps = landed;
  steps.push_back(kStAsync);
  EXPECT_THROW(predict(of_two(steps)), Error);
  steps.insert(steps.begin() + 4, kMeet);
  EXPECT_NO_THROW(predict(of_two(steps)));
}

/// The complaints about a right answer to an over-announced copy that `change` has been at.
std::vector<Miscompare> complaints(const std::function<void(RunResult&)>& change,
                                   const ExpectTx& op = box(112)) {
  const Program program = checked_program(op);
  const ProgramExpectation expected = predict(program);
  RunResult result = right_answer(program);
  change(result);
  return compare(program, expected, result, 9);
}

TEST(ProgramCompare, SaysNothingWhereAllAgrees) {
  EXPECT_TRUE(complaints([](RunResult&) {}).empty());
}

TEST(ProgramCompare, ComplainsAboutEachJudgedBitOfEachTrace) {
  const ProgramExpectation expected = predict(checked_program(box(112)));
  for (std::size_t i = 0; i < expected.trace.size(); ++i)
    for (std::uint32_t bit = 0; bit < 64; ++bit) {
      const bool judged = (expected.trace[i].judged >> bit & 1U) != 0;
      const auto found =
          complaints([&](RunResult& result) { result.trace[i] ^= std::uint64_t{1} << bit; });
      ASSERT_EQ(found.size(), judged ? 1U : 0U) << i << ", " << bit;
    }
}

TEST(ProgramCompare, SaysWhatIsPending) {
  const Program program = checked_program(box(112));
  const auto step = static_cast<std::size_t>(
      std::find_if(program.steps.begin(), program.steps.end(),
                   [](const Step& one) { return one.verb == Verb::meter; }) -
      program.steps.begin());
  const auto found =
      complaints([&](RunResult& result) { result.trace[step] = meter_trace(false, true, -16); });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].row, 9U);
  EXPECT_EQ(found[0].what, "barrier: meter");
  EXPECT_EQ(static_cast<std::int64_t>(found[0].actual), -16);
  EXPECT_NE(found[0].text.find("expected phase not complete before it, settled, pending tx-count "
                               "16, got phase not complete before it, settled, pending tx-count "
                               "-16"),
            std::string::npos)
      << found[0].text;
}

TEST(ProgramCompare, ComplainsAboutEachByteOfBothWindows) {
  ExpectTx op = box(96);
  op.on = AnnouncedOn::peer;
  const std::uint32_t window = window_bytes(op.load);
  for (std::uint32_t at = 0; at < 2 * window; ++at) {
    const auto found = complaints([&](RunResult& result) { result.bytes[at] ^= 1; }, op);
    ASSERT_EQ(found.size(), 1U) << at;
    EXPECT_EQ(found[0].first_offset, at);
    EXPECT_EQ(found[0].wrong_bytes, 1U);
    EXPECT_NE(found[0].text.find(at < window ? "CTA 0" : "CTA 1"), std::string::npos);
  }
}

TEST(ProgramCompare, ComplainsAboutTheSource) {
  const auto found = complaints([](RunResult& result) { result.surroundings[3] ^= 1; });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].what, "source");
}

TEST(ProgramCompare, ComplainsAboutMissingTracesAndWindows) {
  EXPECT_EQ(complaints([](RunResult& result) { result.trace.clear(); }).size(), 1U);
  EXPECT_EQ(complaints([](RunResult& result) { result.bytes.pop_back(); }).size(), 1U);
}

TEST(ProgramCompare, NamesTheSm) {
  const auto found = complaints([](RunResult& result) {
    result.sms = {17};
    result.surroundings[3] ^= 1;
  });
  EXPECT_NE(found.at(0).text.find("[SM 17]"), std::string::npos);
}

TEST(ProgramCompare, AcceptsEitherWhereABoxMayHaveLanded) {
  const Program program = of({kAnnounce, kLoad, kSnapshot});
  const ProgramExpectation expected = predict(program);
  RunResult result;
  result.bytes = expected.snapshots[0].window.bytes;
  result.surroundings = expected.regions;
  result.trace.resize(expected.trace.size());
  EXPECT_TRUE(compare(program, expected, result, 0).empty());
  result.bytes[1030] = expected.snapshots[0].window.other[1030];
  EXPECT_TRUE(compare(program, expected, result, 0).empty());
  result.bytes[1030] ^= 1;
  EXPECT_EQ(compare(program, expected, result, 0).size(), 1U);
}

/// A box of 96 bytes of f32 outside its tensor, filled with NaN, is in the window.
Program with_nan(const std::vector<Step>& steps) {
  const Step wait{.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs};
  Step outside = kLoad;
  outside.at = {64, 0};
  std::vector<Step> all{kAnnounce, outside, wait};
  all.insert(all.end(), steps.begin(), steps.end());
  Program program = of(all);
  program.maps[0].spec.type = DataType::f32;
  program.maps[0].spec.box = {8, 3};
  program.maps[0].spec.extent = {16, 5};
  program.maps[0].spec.fill = Fill::nan;
  program.regions[0].element = DataType::f32;
  return program;
}

TEST(ProgramOracle, NanOfABoxIsForgottenWhereAnotherBoxLands) {
  const Step again{.verb = Verb::wait, .parity = 1, .stops = true, .ns = kMustCompleteNs};
  const Program program = with_nan({kAnnounce, kLoad, again, kSnapshot});
  const auto compare = predict(program).snapshots.at(0).window.compare;
  EXPECT_EQ(std::count(compare.begin(), compare.end(), Compare::nan_element), 0);
}

TEST(ProgramOracle, NanOfABoxIsForgottenWhereThreadsFill) {
  const Step fill{.verb = Verb::fill, .offset = 1024, .bytes = 48};
  const auto compare = predict(with_nan({fill, kSnapshot})).snapshots.at(0).window.compare;
  EXPECT_EQ(std::count(compare.begin(), compare.end(), Compare::nan_element), 48);
}

TEST(ProgramOracle, RefusesToStoreAFillThatNoDocumentNames) {
  const std::vector<Step> steps{
      {.verb = Verb::store, .offset = 1024}, {.verb = Verb::commit}, {.verb = Verb::wait_group}};
  Program program = with_nan(steps);
  EXPECT_THROW(predict(program), Error);
  program.maps[0].spec.fill = Fill::zero;
  EXPECT_NO_THROW(predict(program));
}

TEST(ProgramOracle, NanOfABoxInFlightIsNotJudged) {
  Program program = with_nan({});
  program.steps.pop_back();  // nobody waits
  program.steps.push_back(kSnapshot);
  const auto compare = predict(program).snapshots.at(0).window.compare;
  EXPECT_EQ(std::count(compare.begin(), compare.end(), Compare::recorded), 96);
}

TEST(ProgramCompare, OlderTileOfAnotherTypeIsNotAskedForTheNanOnTopOfIt) {
  const Step wait{.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs};
  Step again = wait, fewer = kAnnounce, outside = kLoad;
  again.parity = 1;
  fewer.bytes = 64;
  outside.map = 1;
  outside.at = {8, 0};
  Program program = of({kAnnounce, kLoad, wait, fewer, outside, again, kSnapshot});
  program.maps.push_back(program.maps[0]);
  TensorMapSpec& map = program.maps[1].spec;  // over two thirds of the box of bytes
  map.type = DataType::f64;
  map.box = {4, 2};
  map.extent = {8, 5};
  map.fill = Fill::nan;
  const ProgramExpectation expected = predict(program);
  RunResult result;
  result.bytes = expected.snapshots.at(0).window.bytes;
  result.surroundings = expected.regions;
  for (const ExpectedTrace& trace : expected.trace) result.trace.push_back(trace.value);
  EXPECT_TRUE(compare(program, expected, result, 0).empty());
}

TEST(ProgramOracle, BoxesInFlightOfTwoBarriersMayBothHaveLanded) {
  const Step other_load{.verb = Verb::load, .barrier = 1, .offset = 1024 + 128};
  Program program = of({kLoad, {.verb = Verb::init, .barrier = 1}, other_load, kSnapshot});
  program.barriers = 2;
  program.window += 128;
  const ExpectedWindow window = predict(program).snapshots.at(0).window;
  ASSERT_EQ(window.other.size(), program.window);
  EXPECT_FALSE(std::equal(&window.bytes[1024], &window.bytes[1024 + 96], &window.other[1024]));
  EXPECT_TRUE(std::equal(&window.other[1024], &window.other[1024 + 96], &window.other[1024 + 128]));
}

}  // namespace
}  // namespace tidemark
