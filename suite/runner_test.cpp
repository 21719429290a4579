// The runner's verdicts on devices that are told what to answer.
#include "suite/runner.hpp"

#include <functional>
#include <memory>

#include <gtest/gtest.h>

#include "kernels/error.hpp"
#include "suite/case.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/testing/scripted_device.hpp"

namespace tidemark {
namespace {

TEST(RunCase, PassesWhereEveryRowIsRight) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::pass);
  EXPECT_EQ(outcome.reason, "");
  EXPECT_EQ(outcome.rows_planned, 3U);
  EXPECT_EQ(outcome.rows_run, 3U);
  EXPECT_EQ(outcome.rows_failed, 0U);
}

TEST(RunCase, RunsEachRowWithBothPayloadsOfOneSeed) {
  std::vector<Payload> seen;
  ScriptedDevice device(
      [&](int, const Program& load, RunResult&) { seen.push_back(load.payload); });
  run_case(kThreeRows, device, {.seed = 12});  // by which no run of six changes its turn
  ASSERT_EQ(seen.size(), 6U);
  EXPECT_EQ(seen[0].seed, seen[1].seed);
  EXPECT_FALSE(seen[0].inverted);
  EXPECT_TRUE(seen[1].inverted);
  EXPECT_NE(seen[0].seed, seen[2].seed);
}

TEST(RunCase, FailsOnAByteThatIsWrongOnlyUnderTheInvertedPayload) {
  ScriptedDevice device([](int, const Program& load, RunResult& result) {
    if (load.payload.inverted) result.bytes[1030] ^= 1;
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_EQ(outcome.rows_failed, 3U);
}

TEST(RunCase, GivesOneRowTheSeedItHasAmongAll) {
  std::vector<Payload> all, alone;
  ScriptedDevice first([&](int, const Program& l, RunResult&) { all.push_back(l.payload); });
  ScriptedDevice second([&](int, const Program& l, RunResult&) { alone.push_back(l.payload); });
  run_case(kThreeRows, first, {.seed = 6});
  const Outcome outcome = run_case(kThreeRows, second, {.seed = 6}, {.only_row = 2});
  ASSERT_EQ(alone.size(), 2U);
  EXPECT_EQ(alone[0].seed, all[4].seed);
  EXPECT_EQ(outcome.rows_planned, 1U);
}

TEST(RunCase, SaysThatAnAskedRowDoesNotExist) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  const Outcome outcome = run_case(kThreeRows, device, {}, {.only_row = 3});
  EXPECT_EQ(outcome.judgement, Judgement::tool_error);
  EXPECT_NE(outcome.reason.find("row 3 does not exist"), std::string::npos) << outcome.reason;
}

TEST(RunCase, SkipsACaseThatTheGpuCannotStart) {
  ScriptedDevice device([](int, const Program&, RunResult& result) {
    result = faulted(DeviceFault::unsupported, 0);
    result.note = "fits nowhere";
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::skip);
  EXPECT_NE(outcome.reason.find("fits nowhere"), std::string::npos) << outcome.reason;
  EXPECT_EQ(outcome.rows_planned, 3U);
  EXPECT_EQ(outcome.rows_run, 0U);
  EXPECT_EQ(outcome.rows_failed, 0U);
  EXPECT_TRUE(outcome.miscompares.empty());
}

TEST(RunCase, DoesNotPassWhereOneRowCannotBeStarted) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run == 2) result = faulted(DeviceFault::unsupported, 0);  // the first run of row 1
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::skip);
  EXPECT_EQ(outcome.rows_run, 2U);
}

TEST(RunCase, ARowThatCannotBeStartedHidesNoFailure) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run == 0) result = faulted(DeviceFault::unsupported, 0);
    if (run == 2) result.bytes[1024] ^= 1;  // the first run of row 1
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_EQ(outcome.rows_failed, 1U);
  EXPECT_EQ(outcome.reason.substr(0, 6), "row 1:");
}

TEST(RunCase, NamesRowAndParametersOfAWrongByte) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run == 2) result.bytes[1024] ^= 1;
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.rows_failed, 1U);
  EXPECT_EQ(outcome.rows_run, 3U);
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].row, 1U);
  EXPECT_NE(outcome.miscompares[0].parameters.find("\"box\":[32,3]"), std::string::npos);
  EXPECT_EQ(outcome.reason.substr(0, 6), "row 1:");
}

std::vector<Op> forty_rows(const RunContext&) { return std::vector<Op>(40, small_load()); }

TEST(RunCase, CountsAllWrongRowsAndKeepsTheFirstSixteenMiscompares) {
  ScriptedDevice device([](int, const Program&, RunResult& result) { result.bytes[0] ^= 1; });
  const Case many{.name = "test.many", .claim = "", .cites = "", .rows = forty_rows};
  const Outcome outcome = run_case(many, device, {});
  EXPECT_EQ(outcome.rows_failed, 40U);
  EXPECT_EQ(outcome.miscompares.size(), 16U);
}

// Says that the row's 17 should have been 16, wherever the payload is inverted.
std::vector<Miscompare> unlike_measured(const Op& op, const RunResult&) {
  if (!std::get<TileLoad>(op).payload.inverted) return {};
  Miscompare found;
  found.what = "behaviour";
  found.expected = 16;
  found.actual = 17;
  found.text = "17 where 16 was measured";
  return {found};
}

constexpr Case kMeasured{.name = "test.measured",
                         .claim = "none",
                         .cites = "none",
                         .rows = three_rows,
                         .unlike_measured = unlike_measured};

TEST(RunCase, HoldsRightRowsAgainstWhatWasMeasured) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  const Outcome outcome = run_case(kMeasured, device, {.seed = 5});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_EQ(outcome.reason, "row 0: 17 where 16 was measured");
  EXPECT_EQ(outcome.rows_failed, 3U);
  ASSERT_EQ(outcome.miscompares.size(), 3U);
  EXPECT_EQ(outcome.miscompares[2].row, 2U);
  EXPECT_EQ(outcome.miscompares[2].what, "behaviour");
}

TEST(RunCase, DoesNotHoldAWrongRowAgainstWhatWasMeasured) {
  ScriptedDevice device([](int, const Program&, RunResult& result) { result.bytes[0] ^= 1; });
  const Outcome outcome = run_case(kMeasured, device, {.seed = 5});
  ASSERT_EQ(outcome.miscompares.size(), 3U);
  EXPECT_EQ(outcome.miscompares[0].what, "guard");
}

TEST(RunCase, TakesARefusedMapForAWrongRow) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run == 0) result = faulted(DeviceFault::encode_refused, 1);
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::fail);
  EXPECT_EQ(outcome.rows_run, 3U);
  EXPECT_EQ(outcome.rows_failed, 1U);
  ASSERT_EQ(outcome.miscompares.size(), 1U);
  EXPECT_EQ(outcome.miscompares[0].what, "encode");
}

TEST(RunCase, CallsATimeoutATimeoutAndGoesOn) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run != 0) return;
    result.fault = DeviceFault::timeout;
    result.trace[5] = 0;  // the first wait
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::timeout);
  EXPECT_EQ(outcome.rows_run, 3U);
  ASSERT_EQ(outcome.miscompares.size(), 2U);
  EXPECT_EQ(outcome.miscompares[1].what, "barrier: wait");
}

TEST(RunCase, StopsAtAStickyFault) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run == 2) result = faulted(DeviceFault::sticky, 715);
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::sticky);
  EXPECT_EQ(outcome.cuda_error, 715);
  EXPECT_TRUE(outcome.device_spent);
  EXPECT_EQ(outcome.rows_planned, 3U);
  EXPECT_EQ(outcome.rows_run, 2U);
}

TEST(RunCase, AccusesNoRowOfAnErrorInALaunchThatSeveralShared) {
  ScriptedDevice device(
      [](int, const Program&, RunResult& result) { result = faulted(DeviceFault::sticky, 700); });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::sticky);
  EXPECT_EQ(outcome.suspects, 3U);
  EXPECT_EQ(outcome.reason,
            "one of rows 0 to 2, which shared a launch, left CUDA error 700 (illegal address)");
  EXPECT_TRUE(outcome.miscompares.empty());
}

TEST(RunCase, AccusesNoRowOfAKernelThatDidNotEnd) {
  ScriptedDevice device(
      [](int, const Program&, RunResult& result) { result = faulted(DeviceFault::timeout, 0); });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.suspects, 3U);
  EXPECT_EQ(outcome.reason,
            "one of rows 0 to 2, which shared a launch, left a kernel that did not end");
  EXPECT_TRUE(outcome.device_spent);
}

TEST(RunCase, NamesTheRowOfAStickyErrorWhereEachRunsAlone) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run >= 2) result = faulted(DeviceFault::sticky, 700);  // from row 1 on
  });
  const Outcome outcome = run_case(kThreeRows, device, {}, {.alone = true});
  EXPECT_EQ(outcome.suspects, 0U);
  EXPECT_EQ(outcome.reason.substr(0, 6), "row 1:");
  EXPECT_EQ(outcome.rows_run, 2U);
  EXPECT_EQ(device.runs(), 4);
}

TEST(RunCase, SaysHowManyRowsAreLeftBehindTheOneThatSpentTheDevice) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run == 2) result = faulted(DeviceFault::sticky, 700);
  });
  const Outcome outcome = run_case(kThreeRows, device, {}, {.alone = true});
  EXPECT_EQ(outcome.rows_left, 1U);
}

TEST(RunCase, RunsTheRowsFromTheFirstThatIsAskedFor) {
  ScriptedDevice device([](int, const Program&, RunResult& result) { result.bytes[0] ^= 1; });
  const Outcome outcome = run_case(kThreeRows, device, {}, {.first_row = 1});
  EXPECT_EQ(outcome.rows_planned, 2U);
  EXPECT_EQ(outcome.rows_run, 2U);
  ASSERT_FALSE(outcome.miscompares.empty());
  EXPECT_EQ(outcome.miscompares[0].row, 1U);
}

TEST(RunCase, CountsNoSmOfARowThatRunsAlone) {
  ScriptedDevice device([](int, const Program&, RunResult& result) { result.sms = {7}; });
  EXPECT_TRUE(run_case(kThreeRows, device, {}, {.alone = true}).sm_rows_run.empty());
}

TEST(RunCase, LetsTheGravestRowSpeak) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run == 0) result.bytes[0] ^= 1;
    if (run == 2) result.fault = DeviceFault::timeout;
    if (run == 4) result.bytes[0] ^= 1;
  });
  EXPECT_EQ(run_case(kThreeRows, device, {}).judgement, Judgement::timeout);
}

TEST(RunCase, TurnsAnErrorIntoAToolError) {
  ScriptedDevice device([](int run, const Program&, RunResult&) {
    if (run == 2) throw Error("out of memory");
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::tool_error);
  EXPECT_NE(outcome.reason.find("out of memory (runner_test.cpp:"), std::string::npos)
      << outcome.reason;
}

std::vector<Op> no_rows(const RunContext&) { return {}; }

TEST(RunCase, DoesNotPassAClaimWithoutRows) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  const Case empty{.name = "test.empty", .claim = "", .cites = "", .rows = no_rows};
  EXPECT_EQ(run_case(empty, device, {}).judgement, Judgement::tool_error);
}

std::vector<std::uint32_t> rows(std::initializer_list<std::uint32_t> by_sm) { return by_sm; }

TEST(RunCase, CountsARowOnceForEachSmThatItsRunsVisited) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run < 2) result.sms = {1};      // both runs of row 0
    if (run == 2) result.sms = {3, 4};  // the first run of row 1, on two CTAs
    if (run == 3) result.sms = {1, 4};  // its second
    if (run == 2) result.bytes[1024] ^= 1;
    if (run == 4) result.sms = {0};
  });
  const Outcome outcome = run_case(kThreeRows, device, {.seed = 12});  // 12: run 0 goes first
  EXPECT_EQ(outcome.sm_rows_run, rows({1, 2, 0, 1, 1}));
  EXPECT_EQ(outcome.sm_rows_failed, rows({0, 1, 0, 1, 1}));
}

TEST(RunCase, CountsARowNowhereThatDidNotSayItsSms) {
  ScriptedDevice device([](int, const Program&, RunResult& result) { result.bytes[1024] ^= 1; });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.rows_failed, 3U);
  EXPECT_TRUE(outcome.sm_rows_run.empty());
  EXPECT_TRUE(outcome.sm_rows_failed.empty());
}

TEST(RunCase, CountsASkippedRowOnNoSm) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run == 0) result = faulted(DeviceFault::unsupported, 0);
    result.sms = {7};
  });
  const Outcome outcome = run_case(kThreeRows, device, {.seed = 12});
  EXPECT_EQ(outcome.sm_rows_run, rows({0, 0, 0, 0, 0, 0, 0, 2}));
}

TEST(RunCase, AccusesNoSmOfAKernelThatRowsShared) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run == 0) result = faulted(DeviceFault::timeout, 0);  // no bytes: it never ended
    result.sms = {7};
  });
  const Outcome outcome = run_case(kThreeRows, device, {.seed = 12});
  EXPECT_EQ(outcome.rows_failed, 1U);
  EXPECT_TRUE(outcome.sm_rows_failed.empty());
}

TEST(RunCase, OfTheVirtualDeviceCountsTheSmsOfEveryRow) {
  const Case many{.name = "test.many", .claim = "", .cites = "", .rows = forty_rows};
  const auto device = make_device(DeviceKind::virtual_device);
  const Outcome outcome = run_case(many, *device, {});
  EXPECT_EQ(outcome.judgement, Judgement::pass) << outcome.reason;
  EXPECT_EQ(outcome.sm_rows_run, std::vector<std::uint32_t>(80, 1));  // two runs a row
  EXPECT_TRUE(outcome.sm_rows_failed.empty());
}

TEST(RunCase, KeepsEachNoteOnce) {
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    result.note = run < 4 ? "padded rows" : "fast engine";
  });
  const Outcome outcome = run_case(kThreeRows, device, {});
  EXPECT_EQ(outcome.notes, (std::vector<std::string>{"padded rows", "fast engine"}));
}

// The digest where byte `index` of the map of row 1 is `value`.
std::uint64_t descriptors_with(std::size_t index, std::uint8_t value) {
  ScriptedDevice device([&](int run, const Program&, RunResult& result) {
    result.maps.resize(2);
    if (run / 2 == 1) result.maps[1][index] = value;
  });
  return run_case(kThreeRows, device, {}).descriptors;
}

TEST(RunCase, DigestsTheDescriptorsOfAllRows) {
  EXPECT_NE(descriptors_with(8, 1), 0U);
  EXPECT_NE(descriptors_with(8, 1), descriptors_with(8, 2));
  EXPECT_EQ(descriptors_with(8, 1), descriptors_with(8, 1));
}

TEST(RunCase, LeavesTheAddressOutOfTheDigest) {
  EXPECT_EQ(descriptors_with(7, 1), descriptors_with(7, 2));
}

TEST(RunCase, DigestIsZeroWhereNoMapWasEncoded) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  EXPECT_EQ(run_case(kThreeRows, device, {}).descriptors, 0U);
}

TEST(RunCase, TellsProgressAfterEachRow) {
  ScriptedDevice device([](int, const Program&, RunResult&) {});
  std::vector<std::uint32_t> told;
  const auto tell = [](void* to, std::uint32_t done, std::uint32_t rows) {
    static_cast<std::vector<std::uint32_t>*>(to)->push_back(done * 10 + rows);
  };
  run_case(kThreeRows, device, {}, {.progress = tell, .progress_arg = &told});
  EXPECT_EQ(told, (std::vector<std::uint32_t>{13, 23, 33}));
}

TEST(Seeded, DependsOnCaseSeedAndRowAlone) {
  const auto seed_of = [](std::uint64_t seed, std::uint32_t row) {
    return std::get<TileLoad>(seeded(small_load(), seed, row)).payload.seed;
  };
  EXPECT_EQ(seed_of(1, 2), seed_of(1, 2));
  EXPECT_NE(seed_of(1, 2), seed_of(1, 3));
  EXPECT_NE(seed_of(1, 2), seed_of(2, 2));
}

TEST(Seeded, GivesGemmsTheirSeed) {
  const Op op = seeded(Gemm{}, 9, 0);
  EXPECT_NE(std::get<Gemm>(op).seed, 0U);
  EXPECT_EQ(runs_of(op), 1U);
}

ExpectTx mismatch(std::uint32_t announced) {
  ExpectTx op;
  op.load = small_load();  // 96 bytes
  op.announced = announced;
  return op;
}

std::vector<Op> two_mismatches(const RunContext&) { return {mismatch(112), mismatch(80)}; }

TEST(RunCase, SaysWhichMismatchesWereDetectedThoughTheyArePasses) {
  const Case two{.name = "test.two", .claim = "", .cites = "", .rows = two_mismatches};
  const auto device = make_device(DeviceKind::virtual_device);
  const Outcome outcome = run_case(two, *device, {});
  EXPECT_EQ(outcome.judgement, Judgement::pass) << outcome.reason;
  ASSERT_EQ(outcome.notes.size(), 2U);
  EXPECT_EQ(outcome.notes[0].substr(0, 48), "96-byte box under-announced: completed early at ");
  EXPECT_EQ(outcome.notes[1], "over-announced by 16 of 96 bytes: did not complete");
}

TEST(RunCase, NotesEachObservationOnceWithItsRuns) {
  Case which = kThreeRows;
  which.observed = [](const Op&, const RunResult& result) -> std::string {
    return result.note.empty() ? "quiet" : "loud";
  };
  ScriptedDevice device([](int run, const Program&, RunResult& result) {
    if (run == 4) result.note = "noise";
  });
  const Outcome outcome = run_case(which, device, {});
  EXPECT_EQ(outcome.judgement, Judgement::pass);
  EXPECT_EQ(outcome.notes, (std::vector<std::string>{"loud (1 run)", "quiet (5 runs)", "noise"}));
}

TEST(RunCase, ObservesNothingInARunThatIsWrong) {
  Case which = kThreeRows;
  which.observed = [](const Op&, const RunResult&) -> std::string { return "seen"; };
  ScriptedDevice device([](int, const Program&, RunResult& result) { result.bytes[1030] ^= 1; });
  EXPECT_TRUE(run_case(which, device, {}).notes.empty());
}

}  // namespace
}  // namespace tidemark
