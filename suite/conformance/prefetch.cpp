// Where prefetches stand among the steps of a load.
#include "suite/conformance/prefetch.hpp"

#include <fmt/format.h>

namespace tidemark::suite {
namespace {

Step prefetch_of(const TileLoad& load, const BoxAt& box, std::uint16_t thread) {
  return {
      .verb = Verb::prefetch, .thread = thread, .at = box, .im2col_offsets = load.im2col_offsets};
}

}  // namespace

Program prefetched(const TileLoad& load, const std::vector<BoxAt>& boxes) {
  Program program = program_of(load);
  program.what = fmt::format("a load of rank {} with {} prefetches before it and one behind",
                             load.map.rank, boxes.size());
  std::vector<Step> steps;
  for (const Step& step : program.steps) {
    steps.push_back(step);
    if (step.verb == Verb::init)
      for (std::size_t i = 0; i < boxes.size(); ++i)
        steps.push_back(prefetch_of(load, boxes[i], static_cast<std::uint16_t>(i % 2)));
    if (step.verb == Verb::load) steps.push_back(prefetch_of(load, load.at, 32));
  }
  program.steps = std::move(steps);
  return program;
}

Program restored(const TileLoad& load) {
  const std::uint32_t offset = kernels::kGuardBytes + load.destination_offset;
  Program program = program_of(load);
  program.what =
      fmt::format("a box of rank {} that is prefetched, stored over and loaded", load.map.rank);
  program.steps = {{.verb = Verb::init},
                   prefetch_of(load, load.at, 0),
                   {.verb = Verb::delay, .ns = kernels::kLandNs},
                   {.verb = Verb::fill, .offset = offset, .bytes = tile_span(load.map)},
                   {.verb = Verb::store, .offset = offset, .at = load.at},
                   {.verb = Verb::commit},
                   {.verb = Verb::wait_group},
                   {.verb = Verb::poison, .bytes = program.window},
                   {.verb = Verb::arrive_expect_tx, .bytes = tile_bytes(load.map)},
                   {.verb = Verb::load, .hint = load.hint, .offset = offset, .at = load.at},
                   {.verb = Verb::wait, .stops = true, .ns = kernels::kMustCompleteNs},
                   {.verb = Verb::snapshot}};
  return program;
}

}  // namespace tidemark::suite
