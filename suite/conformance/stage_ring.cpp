// The steps of a ring of stages.
#include "suite/conformance/stage_ring.hpp"

#include <fmt/format.h>

namespace tidemark {
namespace {

std::uint32_t stage_bytes(const StageRing& ring) {
  return (tile_span(ring.map) + 1023) / 1024 * 1024;
}

std::uint16_t everybody(const StageRing& ring) {
  return static_cast<std::uint16_t>((1U << ring.ctas) - 1);
}

std::uint32_t consumers_of(const StageRing& ring, std::uint32_t cta) {
  return ring.consumers + cta;
}

std::uint32_t all_consumers(const StageRing& ring) {
  std::uint32_t all = 0;
  for (std::uint32_t cta = 0; cta < ring.ctas; ++cta) all += consumers_of(ring, cta);
  return all;
}

// A stage is loaded when its consumers have released it: for the first time at once, since the
// phase before a fresh barrier's first counts as complete.
void append_load(Program& program, const StageRing& ring, std::uint32_t block) {
  const auto full = static_cast<std::uint8_t>(block % ring.stages);
  const auto empty = static_cast<std::uint8_t>(full + ring.stages);
  const auto released = static_cast<std::uint8_t>((block / ring.stages + 1) % 2);
  const std::uint16_t all = everybody(ring);
  program.steps.push_back({.verb = Verb::wait,
                           .ctas = all,
                           .barrier = empty,
                           .parity = released,
                           .stops = true,
                           .ns = kMustCompleteNs});
  program.steps.push_back({.verb = Verb::arrive_expect_tx,
                           .ctas = all,
                           .barrier = full,
                           .bytes = tile_bytes(ring.map) * ring.ctas});
  for (std::uint32_t cta = 0; cta < ring.ctas; ++cta)
    program.steps.push_back({.verb = Verb::load,
                             .ctas = static_cast<std::uint16_t>(1U << cta),
                             .barrier = full,
                             .mask = static_cast<std::uint16_t>(ring.ctas > 1 ? all : 0),
                             .offset = kGuardBytes + (full * ring.ctas + cta) * stage_bytes(ring),
                             .at = {static_cast<std::int32_t>(block * ring.map.box[0]),
                                    static_cast<std::int32_t>(cta * ring.map.box[1])}});
}

// Every consumer releases the stage in all CTAs, since all of them load into it. The last release
// of a CTA's own barrier is its own, and before it the stage is taken.
void append_consumption(Program& program, const StageRing& ring, std::uint32_t block) {
  const auto full = static_cast<std::uint8_t>(block % ring.stages);
  const auto empty = static_cast<std::uint8_t>(full + ring.stages);
  const auto parity = static_cast<std::uint8_t>(block / ring.stages % 2);
  const std::uint16_t all = everybody(ring);
  program.steps.push_back({.verb = Verb::wait,
                           .ctas = all,
                           .barrier = full,
                           .parity = parity,
                           .stops = true,
                           .ns = kMustCompleteNs});
  program.steps.push_back({.verb = Verb::snapshot, .ctas = all});
  for (std::uint32_t cta = 0; cta < ring.ctas; ++cta)
    for (std::uint32_t to = 0; to < ring.ctas; ++to) {
      const std::uint32_t held_back = cta == to ? 1 : 0;
      if (consumers_of(ring, cta) == held_back) continue;
      program.steps.push_back({.verb = Verb::arrive,
                               .ctas = static_cast<std::uint16_t>(1U << cta),
                               .thread = static_cast<std::uint16_t>(held_back),
                               .barrier = empty,
                               .of = cta == to ? kOwnCta : static_cast<std::uint8_t>(to),
                               .count = consumers_of(ring, cta) - held_back});
    }
  program.steps.push_back({.verb = Verb::test, .ctas = all, .barrier = empty, .parity = parity});
  program.steps.push_back({.verb = Verb::arrive, .ctas = all, .barrier = empty});
}

}  // namespace

Program program_of(const StageRing& ring) {
  const TileLoad tensor{.map = ring.map, .payload = {}};
  const std::uint16_t all = everybody(ring);
  Program program{
      .cluster = {ring.ctas, 1, 1},
      .window = 2 * kGuardBytes + ring.stages * ring.ctas * stage_bytes(ring),
      .barriers = 2 * ring.stages,
      .regions = {region_of(tensor)},
      .maps = {{.spec = ring.map}},
      .steps = {},
      .payload = {},
      .what = fmt::format("{} k-blocks of {} x {} {} through a ring of {} stages, {} consumers in "
                          "the first of {} CTAs",
                          ring.blocks, ring.map.box[0], ring.map.box[1] * ring.ctas,
                          name_of(ring.map.type), ring.stages, ring.consumers, ring.ctas)};
  for (std::uint32_t i = 0; i < program.barriers; ++i)
    program.steps.push_back({.verb = Verb::init,
                             .ctas = all,
                             .barrier = static_cast<std::uint8_t>(i),
                             .count = i < ring.stages ? 1 : all_consumers(ring)});
  if (ring.ctas > 1) program.steps.push_back({.verb = Verb::cluster_sync, .ctas = all});
  for (std::uint32_t block = 0; block < ring.blocks + ring.stages; ++block) {
    if (block >= ring.stages) append_consumption(program, ring, block - ring.stages);
    if (block < ring.blocks) append_load(program, ring, block);
  }
  return program;
}

}  // namespace tidemark
