// Programs on a real GPU against expectations written out here; the suite's oracle has no part in
// it.
#include "kernels/ops/program/program.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>

#include "kernels/error.hpp"
#include "kernels/ops/barriers.hpp"
#include "kernels/testing/box_program.hpp"

namespace tidemark {
namespace {

/// The pending tx-count after `announced` bytes were announced for one box.
std::int32_t residue_after(std::uint32_t announced, const RunResult& result,
                           const Program& program) {
  EXPECT_EQ(result.fault, DeviceFault::none) << result.note << " announced " << announced;
  EXPECT_NE(last(program, result) & kMeterSettled, 0U);
  return residue_of(last(program, result));
}

TEST_F(ProgramOnGpu, AnExactCopyLandsAndNothingElseChanges) {
  Program program = begun();
  program += announce(8192);
  program += kLoad;
  program += kWait;
  program += Step{.verb = Verb::snapshot};

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.trace[4], 1U);
  EXPECT_EQ(result.bytes, landed_window());
  ASSERT_EQ(result.surroundings.size(), region_of(box()).bytes);
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte(box().payload, i)) << i;
}

TEST_F(ProgramOnGpu, EveryHintAndEverySourceBringsTheSameBytes) {
  std::vector<Program> programs;
  for (const CacheHint hint :
       {CacheHint::none, CacheHint::evict_normal, CacheHint::evict_first, CacheHint::evict_last})
    for (const MemorySource source :
         {MemorySource::device, MemorySource::async, MemorySource::pinned, MemorySource::mapped}) {
      Program program = begun();
      program.regions[0].source = source;
      program += announce(8192);
      program += kLoad;
      program.steps.back().hint = hint;
      program += kWait;
      program += Step{.verb = Verb::snapshot};
      programs.push_back(program);
    }

  const std::vector<RunResult> results = make_cuda_device()->run_programs(programs);

  for (const RunResult& result : results) {
    EXPECT_EQ(result.fault, DeviceFault::none) << result.note;
    EXPECT_EQ(result.bytes, landed_window());
  }
}

TEST_F(ProgramOnGpu, TheMeterCountsWhatWasAnnouncedTooMuchOrTooLittle) {
  for (const std::uint32_t announced : {8208U, 8191U, 4096U, 16U, 1048575U}) {
    Program program = begun();
    program += announce(announced);
    program += kLoad;
    program += kSettle;
    program += meter(announced);
    const RunResult result = run(program);
    EXPECT_EQ(residue_after(announced, result, program),
              static_cast<std::int32_t>(announced) - 8192);
  }
}

TEST_F(ProgramOnGpu, WithoutAnArrivalThePhaseWaitsForTheMeters) {
  Program program = begun();
  program += Step{.verb = Verb::expect_tx, .bytes = 8192};
  program += kLoad;
  program += kSettle;
  program += meter(8192, 1);

  const RunResult result = run(program);

  EXPECT_EQ(last(program, result), meter_trace(false, true, 0)) << result.note;
}

TEST_F(ProgramOnGpu, AnUnlikelyParityReadsAsThePhaseBefore) {
  Program program = begun();
  program += Step{.verb = Verb::test, .parity = 0};
  program += Step{.verb = Verb::test, .parity = 1};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[2], 0U);
  EXPECT_EQ(result.trace[3], 1U);
}

TEST_F(ProgramOnGpu, AWaitInVainStopsTheProgramButNotItsSnapshots) {
  Program program = begun();
  program += Step{.verb = Verb::wait, .stops = true, .ns = kLandNs};
  program += Step{.verb = Verb::test, .parity = 1};
  program += Step{.verb = Verb::snapshot};

  const RunResult result = run(program);

  EXPECT_EQ(result.fault, DeviceFault::timeout);
  EXPECT_EQ(result.note, "step 2: the wait of CTA 0 on barrier 0 ended by its bound");
  EXPECT_EQ(result.trace[3], 0U);
  EXPECT_EQ(result.bytes, poisoned_window());
}

TEST_F(ProgramOnGpu, PrefetchesOfBoxesAnywhereAreNotNoticed) {
  Program program = begun();
  for (const BoxStart& at : {BoxStart{32, 7}, BoxStart{-64, -32}, BoxStart{192, 40},
                             BoxStart{0, 4000}, BoxStart{-2147483647 - 1, 2147483647}})
    program += Step{.verb = Verb::prefetch, .at = at};
  program += announce(8192);
  program += kLoad;
  program += Step{.verb = Verb::prefetch, .thread = 32, .at = {32, 7}};
  program += kWait;
  program += Step{.verb = Verb::snapshot};
  program += Step{.verb = Verb::delay, .ns = kLandNs};
  program += Step{.verb = Verb::test, .parity = kCurrentPhase};

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.bytes, landed_window());
  EXPECT_EQ(last(program, result), 0U);
  for (std::size_t i = 0; i < result.surroundings.size(); ++i)
    ASSERT_EQ(result.surroundings[i], source_byte(box().payload, i)) << i;
}

TEST_F(ProgramOnGpu, CreditByHandCompletesThePhase) {
  Program program = begun();
  program += announce(1048575);
  program += Step{.verb = Verb::complete_tx, .bytes = 1048574};
  program += Step{.verb = Verb::test};
  program += Step{.verb = Verb::complete_tx, .bytes = 1};
  program += Step{.verb = Verb::test};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[4], 0U);
  EXPECT_EQ(result.trace[6], 1U);
}

TEST_F(ProgramOnGpu, ManyThreadsArriveOnceEach) {
  Program program = begun(256);
  program += Step{.verb = Verb::arrive, .count = 255};
  program += Step{.verb = Verb::test};
  program += Step{.verb = Verb::arrive, .thread = 255};
  program += Step{.verb = Verb::test};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[3], 0U);
  EXPECT_EQ(result.trace[5], 1U);
}

TEST_F(ProgramOnGpu, ThePhaseBehindADropWaitsForFewerArrivals) {
  Program program = begun(3);
  program += Step{.verb = Verb::arrive_drop, .thread = 7};
  program += Step{.verb = Verb::arrive, .count = 2};
  program += Step{.verb = Verb::arrive};
  program += Step{.verb = Verb::test, .parity = 1};
  program += Step{.verb = Verb::arrive};
  program += Step{.verb = Verb::test, .parity = 1};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[5], 0U);
  EXPECT_EQ(result.trace[7], 1U);
}

TEST_F(ProgramOnGpu, TokensTellTheirPhaseAndWhatWasPending) {
  Program program = begun(9);
  program += Step{.verb = Verb::pending_count, .thread = 7, .count = 3};
  program += Step{.verb = Verb::arrive_token, .thread = 9, .count = 5};
  program += Step{.verb = Verb::arrive_token};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[2], 9U);
  EXPECT_EQ(result.trace[3], 0U);
  EXPECT_EQ(result.trace[4], 1U);
}

TEST_F(ProgramOnGpu, ASecondLifeStartsAnewAndBetweenThemTheMemoryIsPlain) {
  Program program = program_of(BarrierCycle{
      .map = box().map, .life_count = 2, .lives = {{{1, 3}, {256, 2}}}, .payload = {.seed = 31}});

  const RunResult result = run(program);

  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  std::vector<std::uint64_t> words;
  for (std::size_t i = 0; i < program.steps.size(); ++i) {
    const Verb verb = program.steps[i].verb;
    if (verb == Verb::read) words.push_back(result.trace[i]);
    if (verb != Verb::test && verb != Verb::wait) continue;
    EXPECT_EQ(result.trace[i], verb == Verb::wait ? 1U : 0U) << i;
  }
  EXPECT_EQ(words, (std::vector<std::uint64_t>{splitmix64(source_word(program.payload, 0)),
                                               splitmix64(source_word(program.payload, 1))}));
}

TEST_F(ProgramOnGpu, WhatIsStillPoisonIsCounted) {
  Program program = begun();
  program += Step{.verb = Verb::missing, .offset = 1024, .bytes = 8192};
  program += announce(8192);
  program += kLoad;
  program += kWait;
  program += Step{.verb = Verb::missing, .offset = 1008, .bytes = 8192};

  const RunResult result = run(program);

  EXPECT_EQ(result.trace[2], 512U);
  EXPECT_EQ(result.trace[6], 1U);
}

TEST_F(ProgramOnGpu, ManyProgramsAreKeptApartAndReachEverySm) {
  std::vector<Program> programs;
  for (std::uint32_t i = 0; i < 400; ++i) {
    Program program = begun();
    program.payload.seed = i;
    program += announce(i % 7 == 3 ? 8208 : 8192);
    program += kLoad;
    program += kSettle;
    program += meter(i % 7 == 3 ? 8208 : 8192);
    program += Step{.verb = Verb::wait, .parity = kLastPhase, .ns = kMustCompleteNs};
    program += Step{.verb = Verb::snapshot};
    programs.push_back(program);
  }

  const std::vector<RunResult> results = make_cuda_device()->run_programs(programs);

  std::set<std::uint16_t> sms;
  for (std::uint32_t i = 0; i < 400; ++i) {
    ASSERT_EQ(results[i].fault, DeviceFault::none) << results[i].note;
    EXPECT_EQ(residue_of(results[i].trace[5]), i % 7 == 3 ? 16 : 0) << i;
    EXPECT_EQ(results[i].bytes[1024], source_byte({.seed = i}, 1024 + 256 * 7 + 32)) << i;
    sms.insert(results[i].sms.at(0));
  }
  EXPECT_EQ(sms.size(), visible_gpus().front().sm_count);
}

TEST_F(ProgramOnGpu, ARefusedMapIsTheResultOfItsProgramAlone) {
  std::vector<Program> programs(3, begun());
  programs[1].maps[0].spec.element_stride[0] = 9;

  const std::vector<RunResult> results = make_cuda_device()->run_programs(programs);

  EXPECT_EQ(results[0].fault, DeviceFault::none);
  EXPECT_EQ(results[1].fault, DeviceFault::encode_refused);
  EXPECT_EQ(results[2].fault, DeviceFault::none);
}

TEST_F(ProgramOnGpu, AnElementStrideOfZeroIsRefusedInTheInnermostDimension) {
  Program program = begun();
  program.maps[0].spec.element_stride[0] = 0;

  EXPECT_EQ(run(program).fault, DeviceFault::encode_refused);
}

TEST_F(ProgramOnGpu, AnIllegalCopyIsTheResultOfItsLaunch) {
  std::vector<Program> programs(3, begun());
  programs[1] += announce(8192);
  programs[1] += Step{.verb = Verb::load, .offset = 1024, .at = {33, 7}};  // off 16 bytes
  programs[1] += kWait;
  const auto run_in_child = [&] {
    const auto results = make_cuda_device()->run_programs(programs);
    std::_Exit(results[0].fault == DeviceFault::sticky && results[2].code == results[1].code ? 0
                                                                                             : 1);
  };
  // The context is lost with the error, so that this needs a process of its own.
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_in_child(), testing::ExitedWithCode(0), "");
}

TEST_F(ProgramOnGpu, AnUnsoundProgramIsRefusedInWords) {
  Program program = begun();
  program += Step{.verb = Verb::test, .barrier = 2};
  EXPECT_THROW((void)run(program), Error);
}

TEST_F(ProgramOnGpu, AClusterOfSixteenRunsOrIsUnsupported) {
  Program program = begun();
  program.cluster = {16, 1, 1};
  for (Step& step : program.steps) step.ctas = 0xffff;
  program += Step{.verb = Verb::cluster_sync, .ctas = 0xffff};
  program += Step{.verb = Verb::snapshot, .ctas = 0xffff};

  const RunResult result = run(program);

  if (result.fault == DeviceFault::unsupported) GTEST_SKIP() << result.note;
  ASSERT_EQ(result.fault, DeviceFault::none) << result.note;
  EXPECT_EQ(result.sms.size(), 16U);
  ASSERT_EQ(result.bytes.size(), 16U * 10240);
  for (std::uint32_t cta = 0; cta < 16; ++cta) {
    const auto begin = result.bytes.begin() + 10240 * cta;
    EXPECT_EQ(std::vector<std::uint8_t>(begin, begin + 10240), poisoned_window(cta)) << cta;
  }
}

}  // namespace
}  // namespace tidemark
