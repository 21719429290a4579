// Predicts a barrier cycle phase by phase with the tile-load oracle.
#include "suite/oracle/barrier_cycle.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"
#include "suite/oracle/compare.hpp"
#include "suite/oracle/region.hpp"

namespace tidemark::suite {
namespace {

TileLoad load_of(const BarrierCycle& cycle, std::uint32_t phase) {
  TileLoad load{.map = cycle.map, .at = {}, .payload = cycle.payload};
  for (std::uint32_t i = 0; i < cycle.map.rank; ++i)
    load.at[i] = static_cast<std::int32_t>(cycle.at[i] + std::int64_t{phase} * cycle.step[i]);
  return load;
}

}  // namespace

Expectation predict(const BarrierCycle& cycle) {
  if (cycle.map.type >= DataType::f32_ftz || cycle.map.fill == Fill::nan)
    throw Error("barrier cycle: take a type that no load converts, and zero fill");
  if (cycle.life_count < 1 || cycle.life_count > kCycleLives)
    throw Error(
        fmt::format("barrier cycle: {} lives; take 1 to {}", cycle.life_count, kCycleLives));
  Expectation expectation;
  expectation.ledger.complete = true;
  std::uint32_t phase = 0;
  for (std::uint32_t life = 0; life < cycle.life_count; ++life)
    for (std::uint32_t i = 0; i < cycle.lives[life].phases; ++i) {
      const Expectation load = predict(load_of(cycle, phase++));
      expectation.bytes.insert(expectation.bytes.end(), load.bytes.begin(), load.bytes.end());
      expectation.surroundings = load.surroundings;
      expectation.ledger.announced += load.ledger.announced;
      expectation.ledger.phases.push_back({.early = false, .before_last = false, .complete = true});
    }
  for (std::uint32_t life = 0; life < cycle.life_count; ++life)
    for (std::uint32_t i = 0; i < 8; ++i)
      expectation.bytes.push_back(
          static_cast<std::uint8_t>(cycle_plain_word(cycle, life) >> (8 * i)));
  return expectation;
}

std::vector<Miscompare> compare(const BarrierCycle& cycle, const Expectation& expected,
                                const RunResult& result, std::uint32_t row) {
  std::vector<Region> regions;
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < expected.ledger.phases.size(); ++i, at = regions.back().end)
    regions.push_back({.what = "byte",
                       .name = fmt::format("window of phase {}", i),
                       .begin = at,
                       .end = at + cycle_window_bytes(cycle)});
  for (std::uint32_t i = 0; i < cycle.life_count; ++i, at = regions.back().end)
    regions.push_back({.what = "plain word",
                       .name = fmt::format("memory of the barrier after life {}", i),
                       .begin = at,
                       .end = at + 8});
  std::vector<Miscompare> found = compare_regions(regions, expected.bytes, result.bytes, row);
  const auto source = compare_regions(
      {{.what = "source", .name = "source", .begin = 0, .end = expected.surroundings.size()}},
      expected.surroundings, result.surroundings, row);
  found.insert(found.end(), source.begin(), source.end());
  compare_ledger(expected.ledger, result.ledger, row, found);
  compare_line("phases", "phases begun", expected.ledger.phases.size(), result.ledger.phases.size(),
               row, found);
  for (std::size_t i = 0; i < result.ledger.phases.size() && i < expected.ledger.phases.size();
       ++i) {
    const BarrierPhase &wanted = expected.ledger.phases[i], &got = result.ledger.phases[i];
    const auto line = [&](std::string_view name, std::string_view meaning, bool right, bool seen) {
      compare_line(fmt::format("phase {} {}", i, name), fmt::format("phase {} {}", i, meaning),
                   right, seen, row, found);
    };
    line("early", "complete before anything was announced", wanted.early, got.early);
    line("before_last", "complete before the last arrival", wanted.before_last, got.before_last);
    line("complete", "complete after the last arrival", wanted.complete, got.complete);
  }
  return found;
}

}  // namespace tidemark::suite
