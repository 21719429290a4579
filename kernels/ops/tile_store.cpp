// Programs of one tile: a store, and a round trip through shared memory.
#include "kernels/ops/tile_store.hpp"

#include <fmt/format.h>
#include <algorithm>

#include "kernels/error.hpp"

namespace tidemark {

// The steps of tile stores.

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

// The steps of round trips.

namespace {

constexpr std::uint8_t kFrom = 0, kTo = 1;  // maps

void require_counts(const TileRoundTrip& trip) {
  const std::uint32_t tiles = tiles_of(trip.load);
  if (tiles != tiles_of(trip.store) || tile_bytes(trip.from) != tile_bytes(trip.to))
    throw Error("tile round trip: loads and stores differ in number or in size");
  if (trip.ctas < 1 || trip.ctas > std::min(kTripCtas, tiles) || trip.stages < 1 ||
      trip.stages > kTripStages || trip.stores_per_group < 1 ||
      trip.stores_per_group > trip.stages || trip.issuer >= kProgramThreads)
    throw Error(
        fmt::format("tile round trip: {} CTAs for {} tiles, {} stages, {} stores a group, issuer "
                    "{} are outside the bounds",
                    trip.ctas, tiles, trip.stages, trip.stores_per_group, trip.issuer));
}

std::array<std::int32_t, kMaxRank> box_of(const TileWalk& walk, std::uint32_t tile) {
  std::array<std::int32_t, kMaxRank> at{};
  for (std::uint32_t i = 0; i < kMaxRank; ++i) {
    at[i] = walk.at[i] + static_cast<std::int32_t>(tile % walk.tiles[i]) * walk.step[i];
    tile /= walk.tiles[i];
  }
  return at;
}

/// Appends the steps of a round trip. `round` counts the tiles of each CTA.
class Trip {
 public:
  explicit Trip(const TileRoundTrip& trip) : trip_(trip) {}

  std::uint32_t window_bytes() const { return by_threads() ? 2 * window() : window(); }

  std::vector<Step> steps() {
    for (std::uint32_t stage = 0; stage < trip_.stages; ++stage)
      append({.verb = Verb::init, .barrier = static_cast<std::uint8_t>(stage)}, at_work(0));
    for (std::uint32_t round = 0; round < trip_.stages; ++round) append_load(round, at_work(round));
    for (std::uint32_t round = 0; at_work(round) != 0; ++round) append_round(round);
    append({.verb = Verb::wait_group}, at_work(0));
    return std::move(steps_);
  }

 private:
  bool by_threads() const { return trip_.work == TileWork::thread_copy; }
  /// From one stage to the next: the tile, rounded up to 128, so that a swizzle starts anew with
  /// another phase in each.
  std::uint32_t pitch() const { return (tile_bytes(trip_.from) + 127) / 128 * 128; }
  /// Guard, stages, guard; on 1024 bytes, since another may lie behind it.
  std::uint32_t window() const {
    return (2 * kGuardBytes + trip_.stages * pitch() + 1023) / 1024 * 1024;
  }
  std::uint32_t offset_of(std::uint32_t round) const {
    return kGuardBytes + round % trip_.stages * pitch();
  }
  std::uint8_t barrier_of(std::uint32_t round) const {
    return static_cast<std::uint8_t>(round % trip_.stages);
  }
  /// The CTAs that have a tile in this round.
  std::uint16_t at_work(std::uint32_t round) const {
    const std::uint32_t tiles = tiles_of(trip_.load), before = round * trip_.ctas;
    const std::uint32_t ctas = tiles > before ? std::min(tiles - before, trip_.ctas) : 0;
    return static_cast<std::uint16_t>((1U << ctas) - 1);
  }

  void append(Step step, std::uint16_t ctas) {
    step.ctas = ctas;
    step.thread = static_cast<std::uint16_t>(trip_.issuer);
    if (ctas != 0) steps_.push_back(step);
  }

  /// Each CTA has a box of its own.
  void append_of_each(Step step, std::uint32_t round, std::uint16_t ctas, const TileWalk& walk) {
    for (std::uint32_t cta = 0; cta < trip_.ctas; ++cta) {
      if ((ctas >> cta & 1U) == 0) continue;
      step.at = box_of(walk, round * trip_.ctas + cta);
      append(step, static_cast<std::uint16_t>(1U << cta));
    }
  }

  void append_load(std::uint32_t round, std::uint16_t ctas) {
    const std::uint8_t barrier = barrier_of(round);
    append({.verb = Verb::test, .barrier = barrier, .parity = kCurrentPhase}, ctas);
    append({.verb = Verb::arrive_expect_tx, .barrier = barrier, .bytes = tile_bytes(trip_.from)},
           ctas);
    append_of_each(
        {.verb = Verb::load, .barrier = barrier, .map = kFrom, .offset = offset_of(round)}, round,
        ctas, trip_.load);
  }

  void append_work(std::uint32_t round, std::uint16_t ctas) {
    const Step add{.verb = Verb::add, .map = kFrom, .count = 1, .offset = offset_of(round)};
    if (trip_.work == TileWork::add_one) append(add, ctas);
    Step indices = add;
    indices.count = 0;
    indices.stride = 1;
    if (trip_.work == TileWork::add_index) append(indices, ctas);
    if (by_threads())
      append_of_each({.verb = Verb::copy, .map = kFrom, .offset = window() + offset_of(round)},
                     round, ctas, trip_.load);
  }

  void append_round(std::uint32_t round) {
    const std::uint16_t ctas = at_work(round);
    append({.verb = Verb::wait,
            .barrier = barrier_of(round),
            .parity = static_cast<std::uint8_t>(round / trip_.stages & 1U),
            .stops = true,
            .ns = kMustCompleteNs},
           ctas);
    append_work(round, ctas);
    append_of_each({.verb = Verb::store,
                    .map = kTo,
                    .offset = (by_threads() ? window() : 0) + offset_of(round)},
                   round, ctas, trip_.store);
    const std::uint32_t in_group = round % trip_.stores_per_group + 1;
    const auto last = static_cast<std::uint16_t>(ctas & ~at_work(round + 1));
    append_group(round + 1 - in_group, round, in_group == trip_.stores_per_group ? ctas : last);
  }

  /// The stores of the rounds `first` to `last` are a group, behind which their stages are free.
  void append_group(std::uint32_t first, std::uint32_t last, std::uint16_t ctas) {
    append({.verb = Verb::commit}, ctas);
    append({.verb = Verb::wait_group_read, .map = kTo}, ctas);
    for (std::uint32_t round = first; round <= last; ++round)
      append_load(round + trip_.stages,
                  static_cast<std::uint16_t>(ctas & at_work(round + trip_.stages)));
  }

  const TileRoundTrip& trip_;
  std::vector<Step> steps_;
};

}  // namespace

Program program_of(const TileRoundTrip& trip) {
  require_counts(trip);
  Trip steps(trip);
  Program program{.cluster = {trip.ctas, 1, 1},
                  .window = steps.window_bytes(),
                  .barriers = trip.stages,
                  .regions = {{.bytes = trip_allocation_bytes(trip.from),
                               .element = trip.from.type,
                               .numbers = trip.numbers}},
                  .maps = {{.spec = trip.from}, {.spec = trip.to}},
                  .steps = steps.steps(),
                  .payload = trip.payload};
  if (trip.in_place) return program;
  program.regions.push_back(
      {.bytes = trip_allocation_bytes(trip.to), .element = trip.to.type, .poison = true});
  program.maps[kTo].region = 1;
  return program;
}

}  // namespace tidemark
