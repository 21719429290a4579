// What every program is given in addition, and that nothing can be left out of it.
#include "kernels/ops/program/checks.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "kernels/ops/barriers.hpp"
#include "suite/case.hpp"
#include "suite/oracle/program.hpp"
#include "suite/runner.hpp"

namespace tidemark {
namespace {

TileLoad load() {
  TileLoad load;
  load.map.extent = {64, 5};
  load.map.stride = {80};
  load.map.box = {32, 3};
  return load;
}

/// One CTA loads one box, announced exactly, and waits for it.
Program exact_load() {
  Program program{.window = window_bytes(load()),
                  .barriers = 1,
                  .regions = {region_of(load())},
                  .maps = {{.spec = load().map}},
                  .steps = {},
                  .payload = {}};
  program.steps = {{.verb = Verb::init},
                   {.verb = Verb::arrive_expect_tx, .bytes = 96},
                   {.verb = Verb::load, .offset = 1024},
                   {.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs}};
  return program;
}

std::vector<Verb> verbs_of(const Program& program) {
  std::vector<Verb> verbs;
  for (const Step& step : program.steps) verbs.push_back(step.verb);
  return verbs;
}

TEST(Checks, AddPoisonMeterWindowExactPhaseAndMeter) {
  EXPECT_EQ(
      verbs_of(with_checks(exact_load())),
      (std::vector<Verb>{Verb::poison, Verb::init, Verb::arrive_expect_tx, Verb::load, Verb::wait,
                         Verb::delay, Verb::meter, Verb::test, Verb::wait, Verb::snapshot,
                         Verb::poison, Verb::arrive_expect_tx, Verb::load, Verb::wait,
                         Verb::snapshot, Verb::delay, Verb::meter, Verb::test, Verb::inval}));
}

TEST(Checks, MeterEveryBarrierOfEveryCta) {
  Program program = exact_load();
  program.cluster = {2, 1, 1};
  program.barriers = 2;
  program.steps[0].ctas = 3;
  program.steps.insert(program.steps.begin(), {.verb = Verb::init, .ctas = 3, .barrier = 1});
  const Program checked = with_checks(program);
  for (std::uint32_t cta = 0; cta < 2; ++cta)
    for (std::uint8_t barrier = 0; barrier < 2; ++barrier)
      EXPECT_TRUE(std::any_of(checked.steps.begin(), checked.steps.end(),
                              [&](const Step& step) {
                                return step.verb == Verb::meter && takes(step, cta) &&
                                       step.barrier == barrier;
                              }))
          << cta << ", " << barrier;
}

TEST(Checks, MeterABarrierBeforeItIsInvalidated) {
  Program program = exact_load();
  program.steps.push_back({.verb = Verb::inval});
  const std::vector<Verb> verbs = verbs_of(with_checks(program));
  const auto inval = std::find(verbs.begin(), verbs.end(), Verb::inval);
  EXPECT_EQ(std::count(verbs.begin(), inval, Verb::meter), 2);
  EXPECT_EQ(std::count(inval, verbs.end(), Verb::meter), 0);
}

TEST(Checks, TellTheMeterWhatIsPending) {
  Program program = exact_load();
  program.steps[1] = {.verb = Verb::expect_tx, .bytes = 112};
  program.steps.pop_back();
  const Program checked = with_checks(program);
  const auto meter = std::find_if(checked.steps.begin(), checked.steps.end(),
                                  [](const Step& step) { return step.verb == Verb::meter; });
  EXPECT_EQ(meter->pending, 1U);
  EXPECT_EQ(meter->count, 1U);
  EXPECT_EQ(meter->bytes, meter_slack({.announced = 112, .credited = 96}));
}

// CTA 0 has loaded another box since: it does not expect the one that both were given.
TEST(Checks, MulticastAgainOnlyToThoseThatLoadedNothingSince) {
  Program program = exact_load();
  program.cluster = {2, 1, 1};
  for (Step& step : program.steps) step.ctas = 3;
  program.steps[2].ctas = 1;
  program.steps[2].mask = 3;
  program.steps.insert(program.steps.begin() + 1, {.verb = Verb::cluster_sync, .ctas = 3});
  program.steps.push_back({.verb = Verb::arrive_expect_tx, .bytes = 96});
  program.steps.push_back({.verb = Verb::load, .offset = 1024, .at = {0, 1}});
  program.steps.push_back({.verb = Verb::wait, .parity = 1, .stops = true, .ns = kMustCompleteNs});
  const Program checked = with_checks(program);
  std::vector<std::uint16_t> masks;
  for (const Step& step : checked.steps)
    if (step.verb == Verb::load) masks.push_back(step.mask);
  EXPECT_EQ(masks, (std::vector<std::uint16_t>{3, 0, 0, 2}));
}

// Each program of the suite ends with every barrier at rest: the second meter finds nothing.
TEST(Checks, LeaveNothingPendingInAnyProgramOfTheSuite) {
  std::size_t programs = 0;
  for (const Case& which : all_cases()) {
    if (which.kind != CaseKind::conformance || which.expected_error != nullptr) continue;
    for (const Op& row :
         which.rows({.seed = case_seed(1, which.name), .ranks = which.fewest_gpus})) {
      if (!is_program(row)) continue;
      const Program program = checked_program(row);
      const ProgramExpectation expected = predict(program);
      for (std::size_t i = 0; i < program.steps.size(); ++i) {
        if (program.steps[i].verb != Verb::meter) continue;
        for (std::uint32_t cta = 0; cta < ctas_of(program); ++cta) {
          if (!takes(program.steps[i], cta)) continue;
          EXPECT_NE(expected.trace[i * ctas_of(program) + cta].value & kMeterSettled, 0U)
              << which.name << ": " << parameters_of(row);
        }
      }
      ++programs;
    }
  }
  EXPECT_GT(programs, 400U);
}

// Both CTAs send to each other: what is sent once more is the poison of their windows.
TEST(Checks, RepeatSendsAndMeetBeforeAndBehind) {
  const std::uint16_t both = 3;
  Program program = exact_load();
  program.cluster = {2, 1, 1};
  program.steps = {{.verb = Verb::init, .ctas = both},
                   {.verb = Verb::cluster_sync, .ctas = both},
                   {.verb = Verb::arrive_expect_tx, .ctas = both, .bytes = 32}};
  for (std::uint8_t to = 0; to < 2; ++to)
    program.steps.push_back({.verb = Verb::send,
                             .ctas = static_cast<std::uint16_t>(2U >> to),
                             .of = to,
                             .offset = 1024,
                             .bytes = 32,
                             .at = {1056}});
  const Program checked = with_checks(program);
  const std::vector<Verb> verbs = verbs_of(checked);
  const std::vector<Verb> repeated{
      Verb::snapshot, Verb::cluster_sync, Verb::poison, Verb::arrive_expect_tx, Verb::cluster_sync,
      Verb::send,     Verb::send,         Verb::wait,   Verb::snapshot,         Verb::cluster_sync};
  const auto found = std::search(verbs.begin(), verbs.end(), repeated.begin(), repeated.end());
  ASSERT_NE(found, verbs.end());
  EXPECT_EQ(checked.steps[static_cast<std::size_t>(found - verbs.begin()) + 2].ctas, both);
  EXPECT_NO_THROW(predict(checked));
}

TEST(Checks, RepeatAllThatAddsUpInOnePlace) {
  Program program = exact_load();
  program.cluster = {3, 1, 1};
  program.steps = {
      {.verb = Verb::init, .ctas = 7},
      {.verb = Verb::arrive_expect_tx, .ctas = 2, .bytes = 16},
      {.verb = Verb::cluster_sync, .ctas = 7},
      {.verb = Verb::st_async, .of = 1, .bytes = 4, .at = {1024}, .word = 5},
      {.verb = Verb::red_async, .of = 1, .reduction = Reduction::add, .at = {1028}, .word = 5},
      {.verb = Verb::red_async,
       .ctas = 5,
       .of = 1,
       .reduction = Reduction::add,
       .at = {1028},
       .word = 6}};
  const Program checked = with_checks(program);
  const std::vector<Verb> verbs = verbs_of(checked);
  EXPECT_EQ(std::count(verbs.begin(), verbs.end(), Verb::st_async), 2);
  EXPECT_EQ(std::count(verbs.begin(), verbs.end(), Verb::red_async), 4);
  const auto last =
      std::find_if(checked.steps.rbegin(), checked.steps.rend(),
                   [](const Step& step) { return step.verb == Verb::arrive_expect_tx; });
  EXPECT_EQ(last->bytes, 16U);
  EXPECT_NO_THROW(predict(checked));
}

TEST(Checks, DoNotRepeatASendFromWhereThePhaseLands) {
  Program program = exact_load();
  program.steps = {{.verb = Verb::init},
                   {.verb = Verb::arrive_expect_tx, .bytes = 96},
                   {.verb = Verb::load, .offset = 1024},
                   {.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs},
                   {.verb = Verb::send, .offset = 1024, .bytes = 32, .at = {0}}};
  std::vector<Verb> verbs = verbs_of(with_checks(program));
  EXPECT_EQ(std::count(verbs.begin(), verbs.end(), Verb::send), 2);
  program.steps.insert(program.steps.begin() + 4,
                       {.verb = Verb::load, .offset = 1024});  // of the same phase
  verbs = verbs_of(with_checks(program));
  EXPECT_EQ(std::count(verbs.begin(), verbs.end(), Verb::send), 1);
}

}  // namespace
}  // namespace tidemark
