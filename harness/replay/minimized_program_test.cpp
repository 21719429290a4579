// What is left of a program that fails for a reason known to the test.

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/base/errors.hpp"
#include "harness/replay/given_program.hpp"
#include "harness/replay/judged_program.hpp"
#include "kernels/ops/barriers.hpp"

namespace tidemark {
namespace {

/// Loads in two CTAs, each with a hint, among steps that do nothing to the point.
Program wordy() {
  Program program{.cluster = {2, 1, 1},
                  .window = 4096,
                  .barriers = 3,
                  .regions = {{}, {}},
                  .maps = {{}, {}},
                  .steps = {},
                  .payload = {.inverted = true}};
  for (std::uint16_t i = 0; i < 13; ++i) {
    program.steps.push_back({.verb = Verb::delay, .ns = 5});
    program.steps.push_back({.verb = Verb::load,
                             .ctas = 3,
                             .thread = 7,
                             .hint = CacheHint::evict_last,
                             .offset = i,
                             .at = {1, 2}});
  }
  return program;
}

bool loads_at(const Program& program, std::uint32_t offset) {
  return std::any_of(program.steps.begin(), program.steps.end(), [&](const Step& step) {
    return step.verb == Verb::load && step.offset == offset;
  });
}

TEST(MinimizedProgram, KeepsTheOneStepThatMatters) {
  const Program least = minimized(wordy(), [](const Program& p) { return loads_at(p, 4); });
  ASSERT_EQ(least.steps.size(), 1U);
  EXPECT_EQ(least.steps[0], (Step{.verb = Verb::load, .offset = 4}));
}

TEST(MinimizedProgram, KeepsTwoStepsThatMatterTogether) {
  const Program least =
      minimized(wordy(), [](const Program& p) { return loads_at(p, 0) && loads_at(p, 12); });
  ASSERT_EQ(least.steps.size(), 2U);
  EXPECT_EQ(least.steps[0].offset, 0U);
  EXPECT_EQ(least.steps[1].offset, 12U);
}

TEST(MinimizedProgram, DropsWhatNothingNames) {
  const Program least = minimized(wordy(), [](const Program& p) { return loads_at(p, 4); });
  EXPECT_EQ(least.cluster, (std::array<std::uint32_t, 3>{1, 1, 1}));
  EXPECT_EQ(least.barriers, 0U);
  EXPECT_TRUE(least.maps.empty());
  EXPECT_TRUE(least.regions.empty());
  EXPECT_FALSE(least.payload.inverted);
}

TEST(MinimizedProgram, KeepsAnOperandThatMatters) {
  const Program least = minimized(wordy(), [](const Program& p) {
    return std::any_of(p.steps.begin(), p.steps.end(),
                       [](const Step& step) { return step.hint == CacheHint::evict_last; });
  });
  ASSERT_EQ(least.steps.size(), 1U);
  EXPECT_EQ(least.steps[0].hint, CacheHint::evict_last);
  EXPECT_EQ(least.steps[0].thread, 0);
}

TEST(MinimizedProgram, KeepsTheOrderOfItsCtas) {
  Program program = wordy();
  program.steps.insert(program.steps.begin() + 2, {.verb = Verb::cluster_sync, .ctas = 3});
  const Program least =
      minimized(program, [](const Program& p) { return p.cluster[0] == 2 && loads_at(p, 4); });
  ASSERT_EQ(least.steps.size(), 2U);
  EXPECT_EQ(least.steps[0].verb, Verb::cluster_sync);
}

TEST(MinimizedProgram, IsTheProgramItselfWhereNothingCanGo) {
  const Program program = wordy();
  EXPECT_EQ(minimized(program, [&](const Program& p) { return p == program; }), program);
}

TEST(MinimizedProgram, AsksABoundedNumberOfTimes) {
  int asked = 0;
  Program program = wordy();
  program.steps.resize(2000, program.steps[0]);
  (void)minimized(program, [&](const Program&) { return ++asked < 0; });
  EXPECT_EQ(asked, kMostMinimizingRuns);
}

// A multicast to four CTAs on a device that writes the copy of one into another's window.
TEST(MinimizedProgram, OfARowOnABrokenDeviceStillFailsAndIsSmaller) {
  MulticastLoad row{.load = {.map = {.type = DataType::u8,
                                     .rank = 1,
                                     .extent = {700},
                                     .box = {256},
                                     .element_stride = {1}},
                             .payload = {}},
                    .cluster = {4, 1, 1},
                    .mask = 5};
  const auto device = make_device(DeviceKind::virtual_device, fault_named("expect_peer_written"));
  const auto fails = [&](const Program& candidate) {
    try {
      const PreparedProgram program = prepared(candidate, "p.json");
      ProgramEnd end;
      end.result = device->run_programs({&program.checked, 1}).front();
      return verdict_on(program, end).code == ExitCode::failed;
    } catch (const UsageError&) {
      return false;  // no program that can be run, or none that can be predicted
    }
  };
  const Program program = program_of(row);
  ASSERT_TRUE(fails(program));
  const Program least = minimized(program, fails);
  EXPECT_TRUE(fails(least));
  EXPECT_LT(least.steps.size(), program.steps.size() / 2);
}

}  // namespace
}  // namespace tidemark
