// The steps of a tile load.
#include "kernels/ops/program/program.hpp"

namespace tidemark {

Region region_of(const TileLoad& load) {
  Region region{.bytes = source_allocation_bytes(load),
                .source = load.source,
                .element = load.map.type,
                .cold = load.cold};
  if (region.bytes > kDenseBytes)
    keep_islands(region, islands_around(load.map, std::array<BoxStart, 1>{load.at}));
  return region;
}

Program program_of(const TileLoad& load) {
  Program program{.window = (window_bytes(load) + 15) / 16 * 16,
                  .barriers = 1,
                  .regions = {region_of(load)},
                  .maps = {{.spec = load.map}},
                  .steps = {{.verb = Verb::init}},
                  .held_to = load.held_to,
                  .payload = load.payload};
  for (std::uint8_t copy = 0; copy < 2; ++copy) {
    if (copy > 0) program.steps.push_back({.verb = Verb::poison, .bytes = program.window});
    program.steps.insert(
        program.steps.end(),
        {{.verb = Verb::test, .parity = copy},
         {.verb = Verb::arrive_expect_tx, .bytes = tile_bytes(load.map)},
         {.verb = Verb::load,
          .hint = load.hint,
          .offset = kGuardBytes + load.destination_offset,
          .at = load.at,
          .im2col_offsets = load.im2col_offsets},
         {.verb = Verb::wait, .parity = copy, .stops = true, .ns = kMustCompleteNs},
         {.verb = Verb::snapshot}});
  }
  return program;
}

}  // namespace tidemark
