// When a waiver holds, for what, and what is said of it afterwards.
#include "reports/schema/waiver.hpp"

#include <gtest/gtest.h>
#include <limits>

namespace tidemark {
namespace {

constexpr double kDay = 86400;
constexpr double kLastSecondOf2026 = 1798761599;  // 2026-12-31T23:59:59Z

Waiver example() {
  Waiver made;
  made.cases = "load.*";
  made.owner = "Ann";
  made.link = "T-1";
  made.expires = "2026-12-31";
  made.waives = {"failure"};
  return made;
}

const GpuNames kGpu = {
    .uuid = "GPU-5f1c", .serial = "165492", .host = "node07", .drivers = {"580.105.08"}};

bool waived(const Waiver& waiver, double at = kLastSecondOf2026 - kDay,
            const GpuNames& gpu = kGpu) {
  const std::vector<Waiver> all = {waiver};
  WaiverLedger ledger(all, at);
  return ledger.hear(Waives::failure, "load.tile.2d", gpu, Heard::failed).has_value();
}

TEST(Waiver, HoldsToTheEndOfItsLastDay) {
  EXPECT_TRUE(waived(example(), kLastSecondOf2026));
  EXPECT_FALSE(waived(example(), kLastSecondOf2026 + 1));
}

TEST(Waiver, NamesAGpuByUuidSerialOrHost) {
  for (const char* gpu : {"GPU-5f*", "165492", "node0?"}) {
    Waiver waiver = example();
    waiver.gpu = gpu;
    EXPECT_TRUE(waived(waiver)) << gpu;
  }
  Waiver other = example();
  other.gpu = "node08";
  EXPECT_FALSE(waived(other));
}

TEST(Waiver, NamesNoOtherCase) {
  Waiver waiver = example();
  waiver.cases = "load.tile";
  EXPECT_FALSE(waived(waiver));
}

TEST(Waiver, HoldsForItsDriversAlone) {
  Waiver waiver = example();
  waiver.lowest_driver = "580.105.08";
  waiver.highest_driver = "580";
  EXPECT_TRUE(waived(waiver));
  waiver.lowest_driver = "580.105.09";
  EXPECT_FALSE(waived(waiver));
  waiver.lowest_driver = "";
  waiver.highest_driver = "580.105.07";
  EXPECT_FALSE(waived(waiver));
}

TEST(Waiver, OfADriverHoldsForNoUnknownOne) {
  Waiver waiver = example();
  waiver.highest_driver = "999";
  GpuNames gpu = kGpu;
  gpu.drivers = {""};
  EXPECT_FALSE(waived(waiver, kLastSecondOf2026, gpu));
}

TEST(Waiver, HoldsForEveryDriverThatTookPartOrNotAtAll) {
  Waiver waiver = example();
  waiver.highest_driver = "580";
  GpuNames gpu = kGpu;
  gpu.drivers = {"580.105.08", "590.44.01"};
  EXPECT_FALSE(waived(waiver, kLastSecondOf2026, gpu));
  gpu.drivers = {"590.44.01", "580.105.08"};
  EXPECT_FALSE(waived(waiver, kLastSecondOf2026, gpu));
  gpu.drivers = {"580.105.08", "570.1"};
  EXPECT_TRUE(waived(waiver, kLastSecondOf2026, gpu));
}

TEST(Waiver, HoldsAtNoTimeThatNoLaunchHas) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  for (const double at : {0.0, -1.0, 1.0, kNaN, -1e300}) EXPECT_FALSE(waived(example(), at)) << at;
  EXPECT_TRUE(waived(example(), 1577836800));
}

TEST(Waiver, VersionsCompareByNumberAsFarAsTheBoundIsWritten) {
  EXPECT_LT(against_bound("580.9", "580.10"), 0);
  EXPECT_EQ(against_bound("580.105.08", "580"), 0);
  EXPECT_GT(against_bound("590", "580.105"), 0);
  EXPECT_LT(against_bound("580", "580.1"), 0);
}

TEST(Waiver, WhatIsNoAnswerAboutTheGpuIsNeverWaived) {
  for (const Verdict verdict : {Verdict::not_run, Verdict::gpu_lost, Verdict::unkillable,
                                Verdict::tool_error, Verdict::skip, Verdict::pass}) {
    EXPECT_FALSE(is_waivable(verdict)) << name_of(verdict);
  }
  for (const Verdict verdict :
       {Verdict::fail, Verdict::flaky, Verdict::hang, Verdict::crash, Verdict::sticky}) {
    EXPECT_TRUE(is_waivable(verdict)) << name_of(verdict);
  }
}

/// What is said of this waiver after one thing was heard of it.
WaiverLedger::Line line_after(const Waiver& waiver, Heard heard, double at = kLastSecondOf2026) {
  const std::vector<Waiver> all = {waiver};
  WaiverLedger ledger(all, at);
  ledger.hear(Waives::failure, "load.tile.2d", kGpu, heard);
  return ledger.lines({Waives::failure}).at(0);
}

TEST(Waiver, OneThatWaivedIsInUse) {
  const WaiverLedger::Line line = line_after(example(), Heard::failed);
  EXPECT_EQ(line.text, "in use: load.* (Ann, T-1, until 2026-12-31): waived 1 finding");
  EXPECT_FALSE(line.attention);
}

TEST(Waiver, OneWhoseResultsAllPassIsStale) {
  const WaiverLedger::Line line = line_after(example(), Heard::passed);
  EXPECT_EQ(line.text,
            "stale: load.* (Ann, T-1, until 2026-12-31): all 1 it names pass; take it out");
  EXPECT_TRUE(line.attention);
}

TEST(Waiver, OneWhoseFailuresAnotherWaivesIsNotStale) {
  Waiver narrow = example();
  narrow.cases = "load.tile.2d";
  const std::vector<Waiver> all = {example(), narrow};
  WaiverLedger ledger(all, kLastSecondOf2026);
  ledger.hear(Waives::failure, "load.tile.2d", kGpu, Heard::failed);
  const WaiverLedger::Line line = ledger.lines({Waives::failure}).at(1);
  EXPECT_EQ(line.text,
            "unused: load.tile.2d (Ann, T-1, until 2026-12-31): 1 failure it names waived by "
            "another before it");
  EXPECT_FALSE(line.attention);
}

TEST(Waiver, OneThatNamesNothingIsStale) {
  Waiver waiver = example();
  waiver.cases = "zfill.*";
  const WaiverLedger::Line line = line_after(waiver, Heard::failed);
  EXPECT_EQ(line.text,
            "stale: zfill.* (Ann, T-1, until 2026-12-31): it names no case and GPU that was "
            "looked at");
  EXPECT_TRUE(line.attention);
}

TEST(Waiver, OneThatIsOverSaysWhatItDidNotWaive) {
  const WaiverLedger::Line line = line_after(example(), Heard::failed, kLastSecondOf2026 + 1);
  EXPECT_EQ(line.text,
            "expired: load.* (Ann, T-1, until 2026-12-31): 1 failure it names, not waived by it; "
            "mend or renew");
  EXPECT_TRUE(line.attention);
}

TEST(Waiver, OneOfAnotherDriverSaysWhichThereIs) {
  Waiver waiver = example();
  waiver.lowest_driver = "590";
  EXPECT_EQ(line_after(waiver, Heard::failed).text,
            "not for this driver: load.* (Ann, T-1, until 2026-12-31): the driver is 580.105.08; 1 "
            "failure it names not waived");
}

TEST(Waiver, OneUnderATimeThatNoLaunchHasSaysSo) {
  const WaiverLedger::Line line = line_after(example(), Heard::failed, -5);
  EXPECT_EQ(line.text,
            "not judged: load.* (Ann, T-1, until 2026-12-31): the launch began at -5 s since 1970, "
            "which no launch did; 1 failure it names, not waived by it; see the clock");
  EXPECT_TRUE(line.attention);
}

TEST(Waiver, OneWithFailuresUnderAnotherDriverIsNotStale) {
  Waiver waiver = example();
  waiver.highest_driver = "580";
  const std::vector<Waiver> all = {waiver};
  WaiverLedger ledger(all, kLastSecondOf2026);
  GpuNames other = kGpu;
  other.drivers = {"590.44.01"};
  ledger.hear(Waives::failure, "load.tile.2d", kGpu, Heard::passed);
  ledger.hear(Waives::failure, "load.tile.2d", other, Heard::failed);
  const WaiverLedger::Line line = ledger.lines({Waives::failure}).at(0);
  EXPECT_EQ(line.text,
            "not for this driver: load.* (Ann, T-1, until 2026-12-31): the driver is 590.44.01; 1 "
            "failure it names not waived");
}

TEST(Waiver, OneWhoseResultsHaveNoAnswerIsNotStale) {
  const WaiverLedger::Line line = line_after(example(), Heard::nothing);
  EXPECT_EQ(line.text,
            "unused: load.* (Ann, T-1, until 2026-12-31): 1 result it names without an answer");
  EXPECT_FALSE(line.attention);
}

TEST(Waiver, OneThatIsAboutSpeedWaivesNoFailure) {
  Waiver waiver = example();
  waiver.waives = {"speed"};
  EXPECT_FALSE(waived(waiver));
}

}  // namespace

}  // namespace tidemark
