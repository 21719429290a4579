// The steps of a multicast load.
#include "kernels/ops/multicast_load.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint32_t kLandedNs = 100'000;  // a box takes microseconds

void append_issue(Program& program, const MulticastLoad& multicast) {
  for (std::uint32_t i = 0; i < multicast.slices; ++i) {
    const TileLoad slice = slice_of(multicast, i);
    const std::uint32_t issuer = (multicast.issuer + i) % cluster_size(multicast);
    program.steps.push_back({.verb = Verb::load,
                             .ctas = static_cast<std::uint16_t>(1U << issuer),
                             .hint = slice.hint,
                             .mask = multicast.mask,
                             .offset = kGuardBytes + slice.destination_offset,
                             .at = slice.at,
                             .im2col_offsets = slice.im2col_offsets});
  }
}

}  // namespace

Program program_of(const MulticastLoad& multicast) {
  if (const char* why = refusal_of(multicast); why != nullptr)
    throw Error(fmt::format("multicast load: {}", why));
  const TileLoad& load = multicast.load;
  Program program{.cluster = multicast.cluster,
                  .window = (window_bytes(load) + 15) / 16 * 16,
                  .barriers = 1,
                  .regions = {region_of(load)},
                  .maps = {{.spec = slice_of(multicast, 0).map}},
                  .steps = {},
                  .held_to = load.held_to,
                  .payload = load.payload};
  const std::uint16_t all = all_ctas(program), mask = multicast.mask;
  auto& steps = program.steps;
  steps.push_back({.verb = Verb::init, .ctas = all});
  for (std::uint8_t copy = 0; copy < 2; ++copy) {
    const Step sync{.verb = Verb::cluster_sync, .ctas = all};
    const Step test{.verb = Verb::test, .ctas = mask, .parity = copy};
    const Step announce{
        .verb = Verb::arrive_expect_tx, .ctas = mask, .bytes = tile_bytes(load.map)};
    if (copy > 0) steps.push_back({.verb = Verb::poison, .ctas = mask, .bytes = program.window});
    if (!multicast.late_arm) steps.insert(steps.end(), {test, announce});
    // Nothing lands before every barrier is there, and every window poisoned.
    steps.push_back(sync);
    append_issue(program, multicast);
    if (multicast.late_arm)
      steps.insert(steps.end(),
                   {{.verb = Verb::delay, .ctas = all, .ns = kLandedNs}, sync, test, announce});
    steps.push_back(
        {.verb = Verb::wait, .ctas = mask, .parity = copy, .stops = true, .ns = kMustCompleteNs});
    steps.push_back({.verb = Verb::snapshot, .ctas = mask});
  }
  return program;
}

}  // namespace tidemark::kernels
