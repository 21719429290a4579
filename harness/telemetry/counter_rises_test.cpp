// Tests of what is told of counters of errors.
#include "harness/telemetry/counter_rises.hpp"

#include <gtest/gtest.h>

namespace tidemark::harness {
namespace {

using Told = std::vector<std::string>;

TEST(CounterRises, SayNothingOfWhatWasCountedBefore) {
  CounterRises rises;
  EXPECT_EQ(rises.told({{"PCIe replays", 7}}), Told{});
  EXPECT_EQ(rises.told({{"PCIe replays", 7}}), Told{});
}

TEST(CounterRises, NameTheCounterThatRose) {
  CounterRises rises;
  rises.told({{"PCIe replays", 7}, {"remapped rows", 0}});
  EXPECT_EQ(rises.told({{"PCIe replays", 7}, {"remapped rows", 1}}), Told{"remapped rows rose"});
}

TEST(CounterRises, TellARiseOnceAndAgainWhenItHasDoubled) {
  CounterRises rises;
  rises.told({{"PCIe replays", 100}});
  EXPECT_EQ(rises.told({{"PCIe replays", 103}}), Told{"PCIe replays rose"});
  EXPECT_EQ(rises.told({{"PCIe replays", 105}}), Told{});
  EXPECT_EQ(rises.told({{"PCIe replays", 106}}), Told{"PCIe replays rose"});
  EXPECT_EQ(rises.told({{"PCIe replays", 111}}), Told{});
}

TEST(CounterRises, NameOnceWhatNvmlRefuses) {
  CounterRises rises;
  const Told told = {"remapped rows are unknown: NVML does not say"};
  EXPECT_EQ(rises.told({{"PCIe replays", 7}, {"remapped rows", std::nullopt}}), told);
  EXPECT_EQ(rises.told({{"PCIe replays", 7}, {"remapped rows", std::nullopt}}), Told{});
}

TEST(CounterRises, BeginAnewWhereTheDriverWasLoadedAnew) {
  CounterRises rises;
  rises.told({{"PCIe replays", 100}});
  EXPECT_EQ(rises.told({{"PCIe replays", 150}}), Told{"PCIe replays rose"});
  EXPECT_EQ(rises.told({{"PCIe replays", 0}}), Told{});
  EXPECT_EQ(rises.told({{"PCIe replays", 1}}), Told{"PCIe replays rose"});
}

}  // namespace
}  // namespace tidemark::harness
