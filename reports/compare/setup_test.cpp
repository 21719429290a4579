// What a change may be put down to: every recorded fact is compared launch by launch.
#include "reports/compare/setup.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

/// Gives each launch a sample of the first GPU that is this hot and has these throttle reasons.
void add_sample(std::vector<Report>& reports, float celsius, std::uint64_t reasons) {
  for (Report& report : reports) {
    report.samples.push_back({.metric_id = 0,
                              .value = report.metrics[0].median,
                              .temperature_c = celsius,
                              .throttle_reasons = reasons});
  }
}

TEST(Setup, HeatThatOnlySamplesShowIsAConfounder) {
  std::vector<Report> base = side(false), fresh = side(true);
  add_sample(base, 48, 0);
  add_sample(fresh, 92, 0);
  EXPECT_EQ(confounder_of(compared(base, fresh).setup), "temperature");
}

TEST(Setup, ThrottlingThatOnlySamplesShowIsAConfounder) {
  std::vector<Report> base = side(false), fresh = side(true);
  add_sample(base, 48, 0);
  add_sample(fresh, 48, 0x44);
  EXPECT_TRUE(compared(base, fresh).setup.differs("throttling"));
}

TEST(Setup, ThrottlingInMoreOfTheSamplesIsAConfounder) {
  std::vector<Report> base = side(false), fresh = side(true);
  for (std::vector<Report>* reports : {&base, &fresh}) {
    for (int i = 0; i < 9; ++i) add_sample(*reports, 48, reports == &fresh ? 0x44 : 0);
    add_sample(*reports, 48, 0x44);
  }
  const SetupComparison setup = compared(base, fresh).setup;
  EXPECT_EQ(confounder_of(setup), "throttled_samples");
  EXPECT_EQ(setup.differences.back().base, "10 %");
  EXPECT_EQ(setup.differences.back().fresh, "100 %");
}

/// Sets one reading of every result in the first `launches` launches.
void read(std::vector<Report>& reports, float ResultRow::*reading, float value,
          std::size_t launches = 5) {
  for (std::size_t i = 0; i < launches; ++i) {
    for (ResultRow& result : reports[i].results) result.*reading = value;
  }
}

TEST(Setup, HeatInTwoOfFiveLaunchesIsAConfounder) {
  std::vector<Report> base = side(false), fresh = side(true);
  read(base, &ResultRow::temperature_c, 48);
  read(fresh, &ResultRow::temperature_c, 49);
  read(fresh, &ResultRow::temperature_c, 92, 2);
  const SetupComparison setup = compared(base, fresh).setup;
  EXPECT_EQ(confounder_of(setup), "temperature");
  EXPECT_EQ(setup.differences.back().fresh, "49 to 92 C");
}

TEST(Setup, HeatThatWasReadOnOneSideAloneIsAConfounder) {
  std::vector<Report> base = side(false), fresh = side(true);
  read(base, &ResultRow::temperature_c, 48);
  read(fresh, &ResultRow::temperature_c, NAN);
  const SetupComparison setup = compared(base, fresh).setup;
  EXPECT_EQ(confounder_of(setup), "temperature");
  EXPECT_EQ(setup.differences.back().fresh, "unknown");
}

TEST(Setup, OtherClocksAreAConfounder) {
  std::vector<Report> fresh = side(true);
  read(fresh, &ResultRow::sm_mhz, 1500);
  const SetupComparison setup = compared(side(false), fresh).setup;
  EXPECT_EQ(confounder_of(setup), "sm_clock");
  EXPECT_EQ(setup.differences.back().base, "1980 MHz");
}

TEST(Setup, ClocksThatDifferByAFewPercentAreNoConfounder) {
  std::vector<Report> fresh = side(true);
  read(fresh, &ResultRow::sm_mhz, 1900);
  EXPECT_EQ(compared(side(false), fresh).setup.cause, Cause::driver);
}

TEST(Setup, AnotherPowerDrawIsNamedAndNoConfounder) {
  std::vector<Report> base = side(false), fresh = side(true);
  read(base, &ResultRow::power_w, 690);
  read(fresh, &ResultRow::power_w, 400);
  const SetupComparison setup = compared(base, fresh).setup;
  EXPECT_EQ(setup.cause, Cause::driver);
  EXPECT_TRUE(remarks(setup, "not taken for a cause: power_draw"));
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
  EXPECT_EQ(differing([](Report& r) { r.nodes[0].ranks = 4; }), "node_ranks");
  EXPECT_EQ(differing([](Report& r) { r.launch.ranks_expected = 1; }), "ranks");
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
  std::vector<Report> fresh = side(true);
  for (Report& report : fresh) report.gpus[0].local_index = 7;
  const SetupComparison setup = compared(side(false), fresh).setup;
  EXPECT_EQ(setup.cause, Cause::driver);
  EXPECT_TRUE(remarks(setup, "not taken for a cause: local_index"));
}

TEST(Setup, SidesThatRanOneAfterTheOtherAreNamed) {
  std::vector<Report> base = side(false), fresh = side(true);
  const auto warned = [&] {
    return show_comparison(compared(base, fresh), {.columns = 200}).find("\nNOT INTERLEAVED: ") !=
           std::string::npos;
  };
  EXPECT_FALSE(warned());
  for (Report& report : fresh) report.launch.created_unix_s += 3600;
  EXPECT_TRUE(warned());
  fresh[0].launch.created_unix_s = base[4].launch.created_unix_s - 1;  // hardly interleaves them
  EXPECT_TRUE(warned());
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
