// The steps of tile stores.
#include "kernels/ops/tile_store.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark::kernels {
namespace {

constexpr std::uint16_t kBystander = 32;  // the first thread of the second warp

void append_stores(const TileStore& store, std::vector<Step>& steps) {
  const auto commit_nothing = [&](std::uint32_t bit) {
    if ((store.empty_groups >> bit & 1U) != 0) steps.push_back({.verb = Verb::commit});
  };
  for (std::uint32_t group = 0; group < store.stores; ++group) {
    commit_nothing(group);
    steps.push_back({.verb = Verb::store,
                     .hint = store.hint,
                     .reduction = store.reduction,
                     .offset = tile_offset(store, group),
                     .at = box_at(store, group)});
    steps.push_back({.verb = Verb::commit});
  }
  commit_nothing(store.stores);
}

bool is_sparse(const TileStore& store) { return destination_allocation_bytes(store) > kDenseBytes; }

Region destination_of(const TileStore& store) {
  Region region{.bytes = destination_allocation_bytes(store),
                .source = store.destination,
                .element = store.map.type,
                .poison = true};
  std::vector<BoxStart> boxes;
  for (std::uint32_t group = 0; group < store.stores; ++group)
    boxes.push_back(box_at(store, group));
  if (is_sparse(store)) keep_islands(region, islands_around(store.map, boxes));
  return region;
}

// A word of box `group`, the first of an im2col map, whose pixels may end anywhere, or nothing
// where it has none. A map that the driver refuses may have it anywhere; no step of its program is
// taken.
Step probe(const TileStore& store, Verb verb, std::uint32_t group, std::uint32_t number) {
  const std::uint64_t word = probe_offset(store, group, store.map.im2col ? 0 : number);
  Step step{.verb = verb};
  if (is_sparse(store) || word % 8 != 0 || word > destination_allocation_bytes(store) - 8)
    return step;
  step.region = 0;
  step.word = word;
  return step;
}

void append_bystander(const TileStore& store, std::vector<Step>& steps) {
  steps.push_back({.verb = Verb::wait_group, .thread = kBystander});
  for (std::uint32_t group = 0; group < store.stores; ++group)
    for (std::uint32_t number = 0; number < kProbes; ++number) {
      Step look = probe(store, Verb::look, group, number);
      look.thread = kBystander;
      if (look.region != kNoRegion) steps.push_back(look);
    }
}

void append_waits(const TileStore& store, std::vector<Step>& steps) {
  for (std::uint32_t group = 0; store.wait == StoreWait::read && group < store.stores; ++group)
    steps.push_back({.verb = Verb::wait_group_read,
                     .pending = groups_behind(store, group),
                     .offset = tile_offset(store, group),
                     .bytes = tile_bytes(store.map)});
  for (std::uint32_t group = 0; group < store.stores; ++group)
    for (std::uint32_t number = 0; number < kProbes; ++number) {
      Step wait = probe(store, Verb::wait_group, group, number);
      wait.pending = groups_behind(store, group);
      steps.push_back(wait);
    }
  steps.push_back({.verb = Verb::wait_group});
}

}  // namespace

Program program_of(const TileStore& store) {
  if (store.map.rank < 1 || store.map.rank > kMaxRank)
    throw Error(fmt::format("tile store: rank {}; take 1 to {}", store.map.rank, kMaxRank));
  if (store.stores < 1 || store.stores > kMaxStores)
    throw Error(fmt::format("tile store: {} stores; take 1 to {}", store.stores, kMaxStores));
  const std::uint32_t window = (window_bytes(store) + 15) / 16 * 16;
  Program program{.window = window,
                  .regions = {destination_of(store)},
                  .maps = {{.spec = store.map}},
                  .steps = {{.verb = Verb::fill, .bytes = window}},
                  .held_to = store.held_to,
                  .payload = store.payload};
  if (ends_unwaited(store)) program.steps.push_back({.verb = Verb::leave});
  append_stores(store, program.steps);
  if (store.wait == StoreWait::only_read) program.steps.push_back({.verb = Verb::wait_group_read});
  if (ends_unwaited(store)) return program;
  if (store.bystander) append_bystander(store, program.steps);
  append_waits(store, program.steps);
  return program;
}

}  // namespace tidemark::kernels
