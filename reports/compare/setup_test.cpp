// What a change may be put down to: every recorded fact is compared launch by launch. What makes a
// confounder in real reports is in ci/check_compare; here is what makes none, and the rest.
#include "reports/compare/setup.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reports/compare/comparison.hpp"
#include "reports/document/comparison/document.hpp"
#include "reports/render/show.hpp"
#include "reports/testing/two_sides.hpp"

namespace tidemark {
namespace {

/// Of eight GPUs, the first case slower after the change.
std::vector<Report> eight(bool fresh, std::uint32_t launches = 5) {
  return launches_of({.gpus = 8, .cases = 12, .noise = {.launch = 0.001, .odd_launches = 0}}, fresh,
                     {.first_case = -0.05}, launches);
}

/// The factor of the only confounder; empty where there is none, or several.
std::string confounder_of(const SetupComparison& setup) {
  std::string made;
  for (const SetupDifference& difference : setup.differences) {
    if (difference.subject || difference.idle) continue;
    if (!made.empty()) return {};
    made = difference.factor;
  }
  return made;
}

bool remarks(const SetupComparison& setup, std::string_view part) {
  return std::any_of(setup.remarks.begin(), setup.remarks.end(), [&](const std::string& remark) {
    return remark.find(part) != std::string::npos;
  });
}

void cap(Report& report, double watts) {
  for (GpuRow& gpu : report.gpus) gpu.power_limit_w = watts;
}

TEST(Setup, APowerCapInTheSameSharesOfTheLaunchesIsNamedAndNoConfounder) {
  std::vector<Report> base = eight(false), fresh = eight(true);
  cap(base[0], 600);
  cap(fresh[4], 600);
  const SetupComparison setup = held(base, fresh).setup;
  EXPECT_EQ(setup.cause, Cause::driver);
  EXPECT_TRUE(remarks(setup, "power_cap varied alike on both sides: 600 W (20 %), 700 W (80 %)"));
}

TEST(Setup, TwoDriversOnOneSideAreAConfounder) {
  std::vector<Report> base = eight(false);
  base[0].strings[base[0].gpus[0].driver] = "570.86.15";
  const SetupComparison setup = held(base, eight(true)).setup;
  EXPECT_EQ(confounder_of(setup), "mixed_drivers");
  EXPECT_EQ(setup.cause, Cause::confounded);
}

TEST(Setup, ThePowerCapInForceIsNoThrottlingThatConfounds) {
  std::vector<Report> fresh = eight(true);
  for (Report& report : fresh) report.results[7].throttle_reasons = 0x4;
  EXPECT_EQ(held(eight(false), fresh).setup.cause, Cause::driver);
}

/// Sets one reading of every result.
void read(std::vector<Report>& reports, float ResultRow::*reading, float value) {
  for (Report& report : reports) {
    for (ResultRow& result : report.results) result.*reading = value;
  }
}

TEST(Setup, HeatThatWasReadOnOneSideAloneIsAConfounder) {
  std::vector<Report> base = eight(false), fresh = eight(true);
  read(base, &ResultRow::temperature_c, 48);
  read(fresh, &ResultRow::temperature_c, NAN);
  const SetupComparison setup = held(base, fresh).setup;
  EXPECT_EQ(confounder_of(setup), "temperature");
  EXPECT_EQ(setup.differences.back().fresh, "unknown");
}

TEST(Setup, ClocksThatDifferByAFewPercentAreNoConfounder) {
  std::vector<Report> fresh = eight(true);
  read(fresh, &ResultRow::sm_mhz, 1900);
  EXPECT_EQ(held(eight(false), fresh).setup.cause, Cause::driver);
}

TEST(Setup, AnotherPowerDrawIsNamedAndNoConfounder) {
  std::vector<Report> base = eight(false), fresh = eight(true);
  read(base, &ResultRow::power_w, 690);
  read(fresh, &ResultRow::power_w, 400);
  const SetupComparison setup = held(base, fresh).setup;
  EXPECT_EQ(setup.cause, Cause::driver);
  EXPECT_TRUE(remarks(setup, "not taken for a cause: power_draw"));
}

TEST(Setup, AnXidIsAConfounder) {
  std::vector<Report> fresh = eight(true);
  fresh[3].strings.insert(fresh[3].strings.end(), {"nvml", "Xid 79"});
  const auto end = static_cast<std::uint32_t>(fresh[3].strings.size());
  fresh[3].events.push_back({.gpu_id = 2, .source = end - 2, .code = 79, .text = end - 1});
  EXPECT_EQ(confounder_of(held(eight(false), fresh).setup), "events");
}

TEST(Setup, WhatNvmlRefusedIsUnknown) {
  struct Refused {
    const char* factor;
    void (*refuse)(GpuRow& gpu);
  };
  const Refused all[] = {
      {"nvlinks_up", [](GpuRow& gpu) { gpu.nvlinks_up = 0xffffffff; }},
      {"nvlinks_up_mask", [](GpuRow& gpu) { gpu.nvlinks_up_mask = 0xffffffff; }},
      {"ecc_corrected", [](GpuRow& gpu) { gpu.ecc_corrected = ~std::uint64_t{}; }},
      {"ecc_uncorrected", [](GpuRow& gpu) { gpu.ecc_uncorrected = ~std::uint64_t{}; }},
      {"remapped_rows", [](GpuRow& gpu) { gpu.remapped_rows_pending = 0xffffffff; }},
      {"ecc", [](GpuRow& gpu) { gpu.ecc_enabled = -1; }},
      {"mig", [](GpuRow& gpu) { gpu.mig_enabled = -1; }},
      {"persistence", [](GpuRow& gpu) { gpu.persistence = -1; }},
      {"power_cap", [](GpuRow& gpu) { gpu.power_limit_w = NAN; }},
      {"default_power_cap", [](GpuRow& gpu) { gpu.default_power_limit_w = NAN; }}};
  for (const Refused& one : all) {
    std::vector<Report> fresh = eight(true, 1);
    for (GpuRow& gpu : fresh[0].gpus) one.refuse(gpu);
    const SetupComparison setup = held(eight(false, 1), fresh).setup;
    EXPECT_EQ(confounder_of(setup), one.factor);
    for (const SetupDifference& difference : setup.differences)
      if (difference.factor == one.factor) {
        EXPECT_EQ(difference.fresh, "unknown") << one.factor;
      }
  }
}

TEST(Setup, ThrottlingThatNvmlRefusedIsUnknown) {
  std::vector<Report> fresh = eight(true, 1);
  for (ResultRow& result : fresh[0].results) result.throttle_reasons = std::uint64_t{1} << 63;
  const SetupComparison setup = held(eight(false, 1), fresh).setup;
  EXPECT_EQ(confounder_of(setup), "throttling");
}

TEST(Setup, EveryFactOfTheSchemaIsComparedOrNamed) {
  for (const Table* table : {&table_of<GpuRow>(), &table_of<NodeRow>()}) {
    for (const Column& column : table->columns) {
      const bool key = column.name == "gpu_id" || column.name == "node_id" ||
                       column.name == "uuid" || column.name == "reported" || column.name == "nvml";
      EXPECT_EQ(column.role == FactRole::none, key) << column.name;
    }
  }
}

TEST(Setup, AnotherSlotOfTheMachineIsNamedAndNoConfounder) {
  std::vector<Report> fresh = eight(true);
  for (Report& report : fresh) report.gpus[0].local_index = 7;
  const SetupComparison setup = held(eight(false), fresh).setup;
  EXPECT_EQ(setup.cause, Cause::driver);
  EXPECT_TRUE(remarks(setup, "not taken for a cause: local_index"));
}

TEST(Setup, TheSeedOfOneLaunchASideIsNoConfounderWhereOnlyNumbersChanged) {
  std::vector<Report> base = eight(false, 1), fresh = eight(true, 1);
  fresh[0].launch.seed = 99;
  EXPECT_EQ(held(base, fresh).setup.cause, Cause::driver);
  fresh[0].results[0].verdict = Verdict::fail;
  EXPECT_EQ(confounder_of(held(base, fresh).setup), "seed");
}

}  // namespace
}  // namespace tidemark
