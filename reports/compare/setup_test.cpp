// What a change may be put down to: every recorded fact is compared launch by launch.
#include "reports/compare/setup.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "reports/compare/comparison.hpp"
#include "reports/compare/show_comparison.hpp"
#include "reports/compare/told.hpp"
#include "reports/compare/trials/synthetic_fleet.hpp"

namespace tidemark::reports {
namespace {

std::vector<Report> side(bool fresh, std::uint32_t launches = 5) {
  std::vector<Report> made;
  for (std::uint32_t i = 0; i < launches; ++i) {
    made.push_back(
        synthetic_launch({.gpus = 8, .cases = 12, .noise = {.launch = 0.001, .odd_launches = 0}}, i,
                         fresh, {.first_case = -0.05}));
  }
  return made;
}

Comparison compared(const std::vector<Report>& base, const std::vector<Report>& fresh) {
  std::vector<LaunchFacts> facts[2];
  for (const Report& report : base) facts[0].push_back(facts_of(report, report.launch.run_id));
  for (const Report& report : fresh) facts[1].push_back(facts_of(report, report.launch.run_id));
  return compare_launches(std::move(facts[0]), std::move(facts[1]), {});
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

TEST(Setup, APowerCapInOtherSharesOfTheLaunchesIsAConfounder) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (const std::size_t i : {0U, 1U}) cap(base[i], 600);
  for (const std::size_t i : {0U, 1U, 2U, 3U}) cap(fresh[i], 600);
  const SetupComparison setup = compared(base, fresh).setup;
  EXPECT_EQ(confounder_of(setup), "power_cap");
  ASSERT_FALSE(setup.differences.empty());
  EXPECT_EQ(setup.differences[2].base, "600 W (40 %), 700 W (60 %)");
}

TEST(Setup, APowerCapInTheSameSharesOfTheLaunchesIsNamedAndNoConfounder) {
  std::vector<Report> base = side(false), fresh = side(true);
  cap(base[0], 600);
  cap(fresh[4], 600);
  const SetupComparison setup = compared(base, fresh).setup;
  EXPECT_EQ(setup.cause, Cause::driver);
  EXPECT_TRUE(remarks(setup, "power_cap varied alike on both sides: 600 W (20 %), 700 W (80 %)"));
}

TEST(Setup, ThermalThrottlingIsAConfounder) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) report.results[7].throttle_reasons = 0x44;
  const Comparison made = compared(side(false), fresh);
  EXPECT_EQ(confounder_of(made.setup), "throttling");
  EXPECT_TRUE(show_comparison(made, {.columns = 200})
                  .find("throttling: none -> hardware thermal slowdown") != std::string::npos);
}

TEST(Setup, ThePowerCapInForceIsNoThrottlingThatConfounds) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) report.results[7].throttle_reasons = 0x4;
  EXPECT_EQ(compared(side(false), fresh).setup.cause, Cause::driver);
}

TEST(Setup, HotterGpusAreAConfounder) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (Report& report : base) {
    for (ResultRow& result : report.results) result.temperature_c = 48;
  }
  for (Report& report : fresh) {
    for (ResultRow& result : report.results) result.temperature_c = 92;
  }
  const SetupComparison setup = compared(base, fresh).setup;
  EXPECT_EQ(confounder_of(setup), "temperature");
  EXPECT_EQ(setup.differences.back().fresh, "92 C");
}

TEST(Setup, EccErrorsAreAConfounder) {
  std::vector<Report> fresh = side(true);
  fresh[3].gpus[2].ecc_uncorrected = 1;
  EXPECT_EQ(confounder_of(compared(side(false), fresh).setup), "ecc_uncorrected");
}

TEST(Setup, AnXidIsAConfounder) {
  std::vector<Report> fresh = side(true);
  fresh[3].strings.insert(fresh[3].strings.end(), {"nvml", "Xid 79"});
  const auto end = static_cast<std::uint32_t>(fresh[3].strings.size());
  fresh[3].events.push_back({.gpu_id = 2, .source = end - 2, .code = 79, .text = end - 1});
  EXPECT_EQ(confounder_of(compared(side(false), fresh).setup), "events");
}

TEST(Setup, FactsThatWereNotLookedAtAreCompared) {
  const auto differing = [](auto change) {
    std::vector<Report> fresh = side(true);
    for (Report& report : fresh) change(report);
    return confounder_of(compared(side(false), fresh).setup);
  };
  EXPECT_EQ(differing([](Report& r) { r.gpus[0].nvlinks_up_mask = 5; }), "nvlinks_up_mask");
  EXPECT_EQ(differing([](Report& r) { r.gpus[0].default_power_limit_w = 650; }),
            "default_power_cap");
  EXPECT_EQ(differing([](Report& r) { r.nodes[0].logical_cpus = 32; }), "cpus");
  EXPECT_EQ(differing([](Report& r) { r.nodes[0].hdf5 = 1; }), "hdf5");
  EXPECT_EQ(differing([](Report& r) { r.launch.ranks_expected = 1; }), "ranks");
}

TEST(Setup, EveryFactOfTheSchemaIsComparedOrNamed) {
  for (const Table* table : {&table_of<GpuRow>(), &table_of<NodeRow>()}) {
    for (const Column& column : table->columns) {
      const bool key = column.name == "gpu_id" || column.name == "node_id" ||
                       column.name == "uuid" || column.name == "reported" ||
                       column.name == "nvml" || column.name == "first_rank" ||
                       column.name == "ranks";
      EXPECT_EQ(column.role == FactRole::none, key) << column.name;
    }
  }
}

TEST(Setup, AnotherSlotOfTheMachineIsNamedAndNoConfounder) {
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) report.gpus[0].local_index = 7;
  const SetupComparison setup = compared(side(false), fresh).setup;
  EXPECT_EQ(setup.cause, Cause::driver);
  EXPECT_TRUE(remarks(setup, "not taken for a cause: local_index"));
}

TEST(Setup, SidesThatRanOneAfterTheOtherAreNamed) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::uint32_t i = 0; i < 5; ++i) {
    base[i].launch.created_unix_s += 60 * i;
    fresh[i].launch.created_unix_s += 60 * i + 30;
  }
  EXPECT_FALSE(remarks(compared(base, fresh).setup, "one after the other"));
  for (Report& report : fresh) report.launch.created_unix_s += 3600;
  EXPECT_TRUE(remarks(compared(base, fresh).setup, "one after the other"));
}

TEST(Setup, TheSeedOfOneLaunchASideIsNoConfounderWhereOnlyNumbersChanged) {
  std::vector<Report> base = side(false, 1), fresh = side(true, 1);
  fresh[0].launch.seed = 99;
  EXPECT_EQ(compared(base, fresh).setup.cause, Cause::driver);
  fresh[0].results[0].verdict = Verdict::fail;
  EXPECT_EQ(confounder_of(compared(base, fresh).setup), "seed");
}

}  // namespace
}  // namespace tidemark::reports
