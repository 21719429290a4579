// The steps of a barrier cycle.
#include "kernels/ops/barrier_cycle.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

void require_sound(const BarrierCycle& cycle) {
  if (cycle.life_count < 1 || cycle.life_count > kCycleLives)
    throw Error(
        fmt::format("barrier cycle: {} lives; take 1 to {}", cycle.life_count, kCycleLives));
  for (std::uint32_t i = 0; i < cycle.life_count; ++i)
    if (cycle.lives[i].count < 1 || cycle.lives[i].count > kProgramThreads ||
        cycle.lives[i].phases < 1)
      throw Error(fmt::format("barrier cycle: life {} with {} arrivals and {} phases", i,
                              cycle.lives[i].count, cycle.lives[i].phases));
}

Step load_of_phase(const BarrierCycle& cycle, std::uint32_t phase) {
  Step step{.verb = Verb::load, .offset = kGuardBytes, .at = cycle.at};
  for (std::uint32_t i = 0; i < cycle.map.rank && i < kMaxRank; ++i)
    step.at[i] += static_cast<std::int32_t>(phase) * cycle.step[i];
  return step;
}

void append_phase(Program& program, const BarrierCycle& cycle, std::uint32_t phase,
                  std::uint32_t count, std::uint8_t parity) {
  auto& steps = program.steps;
  const Step test{.verb = Verb::test, .parity = parity};
  const Step land{.verb = Verb::delay, .ns = kLandNs};
  if (phase > 0) steps.push_back({.verb = Verb::poison, .bytes = program.window});
  steps.push_back(test);
  if (cycle.copy_first) {
    steps.push_back(load_of_phase(cycle, phase));
    steps.push_back(land);  // until then the tx-count is most likely below zero
  }
  steps.push_back({.verb = Verb::arrive_expect_tx, .bytes = tile_bytes(cycle.map)});
  if (!cycle.copy_first) steps.push_back(load_of_phase(cycle, phase));
  if (count > 2) steps.push_back({.verb = Verb::arrive, .thread = 1, .count = count - 2});
  if (count > 1) {
    steps.push_back(land);
    steps.push_back(test);
    steps.push_back({.verb = Verb::arrive, .thread = static_cast<std::uint16_t>(count - 1)});
  }
  steps.push_back({.verb = Verb::wait, .parity = parity, .stops = true, .ns = kMustCompleteNs});
  steps.push_back({.verb = Verb::snapshot});
}

}  // namespace

Program program_of(const BarrierCycle& cycle) {
  require_sound(cycle);
  const TileLoad load{.map = cycle.map, .payload = cycle.payload};
  Program program{.window = window_bytes(load),
                  .barriers = 1,
                  .regions = {region_of(load)},
                  .maps = {{.spec = cycle.map}},
                  .steps = {},
                  .payload = cycle.payload};
  std::uint32_t phase = 0;
  for (std::uint32_t life = 0; life < cycle.life_count; ++life) {
    const std::uint32_t count = cycle.lives[life].count;
    program.steps.push_back({.verb = Verb::init, .count = count});
    for (std::uint32_t i = 0; i < cycle.lives[life].phases; ++i)
      append_phase(program, cycle, phase++, count, i & 1U);
    program.steps.push_back({.verb = Verb::inval});
    program.steps.push_back({.verb = Verb::write, .word = cycle_plain_word(cycle, life)});
    program.steps.push_back({.verb = Verb::read, .thread = kProgramThreads - 1});
  }
  return program;
}

}  // namespace tidemark::kernels
