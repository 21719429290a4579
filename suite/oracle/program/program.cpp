// Follows a program step by step, and says what it must leave behind. Never orders what nothing
// orders.
#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "kernels/error.hpp"
#include "kernels/ops/program/program_json.hpp"
#include "suite/oracle/contents.hpp"
#include "suite/oracle/encoder_rules.hpp"
#include "suite/oracle/expectation.hpp"
#include "suite/oracle/program.hpp"
#include "suite/oracle/program/walk.hpp"

namespace tidemark {
namespace {

void meet(Walk& walk) {
  walk.met = walk.step;
  walk.reads.clear();
  for (ExpectedCta& cta : walk.ctas) cta.touched.clear();
  for (MapPlace& place : walk.places) place.touched = 0;
  for (Sent& send : walk.sends) send.over = send.over || send.seen;
}

// These bytes are no longer those of a box.
void forget_tiles(ExpectedWindow& window, const Step& step) {
  overwrite(window, {step.offset, step.offset + step.bytes});
  if (step.bytes != window.bytes.size()) return;
  window.compare.clear();
  window.tiles.clear();
}

void poison(Walk& walk, const Step& step, std::uint32_t rank) {
  touch(walk, rank, step.offset, step.bytes);
  ExpectedWindow& window = walk.ctas[rank].window;
  const Poison& poison = poison_of(walk.program.payload.inverted);
  const std::uint32_t end = step.offset + step.bytes;
  for (std::uint32_t at = step.offset; at < end;) {
    const std::uint32_t in_period = at % kPoisonPeriod;
    const std::uint32_t run = std::min(end - at, kPoisonPeriod - in_period);
    std::memcpy(&window.bytes[at], &poison[in_period], run);
    at += run;
  }
  const std::uint8_t twist = poison_twist(rank);
  for (std::uint32_t at = step.offset; twist != 0 && at < end; ++at) window.bytes[at] ^= twist;
  forget_tiles(window, step);
}

// The window holds source words, or their complement.
void fill(Walk& walk, const Step& step, std::uint32_t rank, std::uint32_t flip) {
  touch(walk, rank, step.offset, step.bytes);
  ExpectedWindow& window = walk.ctas[rank].window;
  const DataType type = walk.program.maps[step.map].spec.type;
  for (std::uint32_t at = step.offset; at < step.offset + step.bytes; at += 4) {
    const std::uint32_t word = source_element_word(walk.program.payload, type, at / 4) ^ flip;
    std::memcpy(&window.bytes[at], &word, 4);
  }
  window.filled = true;
  forget_tiles(window, step);
}

// What the threads do to a tile by ordinary accesses.
void work(Walk& walk, const Step& step, std::uint32_t rank) {
  const TileLoad tile = tile_of(walk.program, step);
  const std::uint8_t region = walk.program.maps[step.map].region;
  const std::uint32_t bytes = tile_span(tile.map);
  touch(walk, rank, step.offset, bytes);
  refuse_landing(walk, rank, step.offset, bytes);
  ExpectedWindow& window = walk.ctas[rank].window;
  if (step.verb == Verb::add)
    return walk.refuse_where([&] { add_to_tile(tile, step, window.bytes); });
  walk.refuse_where([&] { refuse_undocumented(tile); });
  refuse_unstored(walk, tile, region);
  pull_tile(tile, memory_of(walk, region), window.bytes, window.compare);
  keep_tile(window, tile);
}

void store(Walk& walk, const Step& step, std::uint32_t rank) {
  const Map& map = walk.program.maps[step.map];
  use_map(walk, step, rank);
  refuse_landing(walk, rank, step.offset, tile_span(map.spec));
  refuse_unfenced(walk, rank, step.offset, tile_span(map.spec));
  refuse_unread(walk, step);
  refuse_unknown(walk, rank, step.offset, tile_span(map.spec));
  walk.refuse_where([&] {
    walk.stores.issue(step, {rank, step.thread}, walk.ctas[rank].window.bytes,
                      walk.regions[map.region]);
  });
  // The steps of another CTA before this one are not before it in time.
  for (const RegionRead& read : walk.reads)
    if (read.rank != rank && walk.stores.is_of_last(read.region, read.byte))
      walk.expected.trace[read.trace] = kOpen;
}

ExpectedTrace read_region(Walk& walk, const Step& step, std::uint32_t rank) {
  if (step.region == kNoRegion) return {};
  walk.reads.push_back({.rank = rank,
                        .region = step.region,
                        .byte = step.word,
                        .trace = walk.step * ctas_of(walk.program) + rank});
  if (!walk.stores.is_certain({rank, step.thread}, step.region, step.word)) return kOpen;
  std::uint64_t word = 0;
  std::memcpy(&word, &walk.regions[step.region][step.word], sizeof(word));
  return {.value = word};
}

// Any of them may have come.
void record_reductions(const Walk& walk, const ExpectedCta& cta, std::vector<Compare>& compare) {
  for (const BarrierState& barrier : cta.barriers)
    for (const Flight& flight : barrier.flights) {
      if (flight.send == kNone || walk.sends[flight.send].reduction == Reduction::none) continue;
      compare.resize(cta.window.bytes.size(), Compare::exact);
      const Part part = part_of(flight.load);
      std::fill(&compare[part.begin], &compare[part.begin] + (part.end - part.begin),
                Compare::recorded);
    }
}

void snapshot(Walk& walk, std::uint32_t rank) {
  walk.ctas[rank].touched.push_back({0, walk.program.window});
  const ExpectedCta& cta = walk.ctas[rank];
  ExpectedSnapshot taken{
      .step = static_cast<std::uint32_t>(walk.step), .cta = rank, .window = cta.window};
  const bool flying = std::any_of(cta.barriers.begin(), cta.barriers.end(),
                                  [](const auto& barrier) { return !barrier.flights.empty(); });
  if (flying) {
    ExpectedCta landed = cta;
    for (BarrierState& barrier : landed.barriers) {
      for (Flight& flight : barrier.flights) flight.phase_done = true;
      see_boxes(walk, landed, barrier);
    }
    auto& compare = taken.window.compare;
    compare.resize(landed.window.compare.size(), Compare::exact);
    for (std::size_t i = 0; i < compare.size(); ++i)  // either what was there, or some NaN
      if (compare[i] != landed.window.compare[i]) compare[i] = Compare::recorded;
    taken.window.other = std::move(landed.window.bytes);
    record_reductions(walk, cta, compare);
  }
  walk.expected.snapshots.push_back(std::move(taken));
}

// One step by CTA `rank`.
ExpectedTrace take(Walk& walk, const Step& step, std::uint32_t rank) {
  const bool on_barrier = info_of(step.verb).barrier;
  ExpectedCta& cta = walk.ctas[rank];
  BarrierState none;
  BarrierState& own = on_barrier ? cta.barriers[step.barrier] : none;
  BarrierState& named =
      on_barrier && step.of != kOwnCta ? walk.ctas[step.of].barriers[step.barrier] : own;
  if (on_barrier && step.verb != Verb::load) require_alive(walk, step, named);
  const bool arrives = step.verb == Verb::arrive || step.verb == Verb::arrive_drop ||
                       step.verb == Verb::arrive_expect_tx || step.verb == Verb::complete_tx;
  if (arrives && &named != &own) come_from_outside(walk, named);
  const Issuer issuer{rank, step.thread};
  switch (step.verb) {
    case Verb::init:
      init(walk, step, own);
      return {};
    case Verb::inval:
      own.alive = false;
      return {};
    case Verb::arrive:
    case Verb::arrive_drop:
      arrive(walk, step, named, step.count);
      return {};
    case Verb::arrive_token:
      return arrive_token(walk, step, own);
    case Verb::pending_count:
      return pending_count(walk, step, own);
    case Verb::expect_tx:
      named.tx += step.bytes;
      return {};
    case Verb::arrive_expect_tx:
      arrive(walk, step, named, 1);
      return {};
    case Verb::complete_tx:
      named.tx -= step.bytes;
      advance(named);
      return {};
    case Verb::test:
      return test(walk, step, own);
    case Verb::wait:
      return wait(walk, step, cta, own);
    case Verb::meter:
      return meter(walk, step, cta, own);
    case Verb::load:
      issue(walk, step, rank);
      return {};
    case Verb::send:
      send(walk, step, rank);
      return {};
    case Verb::st_async:
    case Verb::red_async:
      send_registers(walk, step, rank);
      return {};
    case Verb::prefetch:
      prefetch(walk, step, rank);
      return {};
    case Verb::store:
      store(walk, step, rank);
      return {};
    case Verb::commit:
      walk.stores.commit(issuer);
      return {};
    case Verb::wait_group:
      walk.stores.wait(issuer, step.pending, true);
      return read_region(walk, step, rank);
    case Verb::wait_group_read:
      walk.stores.wait(issuer, step.pending, false);
      fill(walk, step, rank, ~0U);
      return {};
    case Verb::cluster_sync:
      meet(walk);
      return {};
    case Verb::delay:
      if (step.ns >= kLandNs) land_everywhere(walk);
      return {};
    case Verb::replace:
      replace(walk, step, rank);
      return {};
    case Verb::acquire:
      acquire(walk, step, rank);
      return {};
    case Verb::fill:
      fill(walk, step, rank, 0);
      return {};
    case Verb::add:
    case Verb::copy:
      work(walk, step, rank);
      return {};
    case Verb::place_rows:
      place_rows(walk, step, rank);
      return {};
    case Verb::read_columns:
      read_columns(walk, step, rank);
      return {};
    case Verb::look:
      return read_region(walk, step, rank);
    case Verb::poison:
      poison(walk, step, rank);
      return {};
    case Verb::write:
      own.word = step.word;
      return {};
    case Verb::read:
      return {.value = own.word};
    case Verb::missing:
      return kOpen;
    case Verb::wgmma:
      wgmma(walk, step, rank);
      return {};
    case Verb::snapshot:
      snapshot(walk, rank);
      return {};
    case Verb::leave:
      return {};
  }
  walk.refuse("the oracle does not know this verb");
}

Walk begin(const Program& program) {
  if (const std::string why = unsound(program); !why.empty()) throw Error(why);
  for (std::size_t i = 0; i < program.maps.size(); ++i)
    refuse_illegal_map(program.maps[i].spec, fmt::format("program: map {}: ", i));
  Walk walk{
      .program = program, .expected = {}, .regions = {}, .ctas = {}, .stores = Stores(program)};
  for (const Region& region : program.regions) walk.regions.push_back(contents(program, region));
  walk.places.resize(program.maps.size());
  for (std::size_t i = 0; i < program.maps.size(); ++i)
    if (program.maps[i].from == kEncoded) walk.places[i].holds = static_cast<std::uint8_t>(i);
  walk.ctas.resize(ctas_of(program));
  for (ExpectedCta& cta : walk.ctas) {
    cta.barriers.resize(program.barriers);
    cta.window.bytes.resize(program.window);
  }
  walk.expected.trace.resize(program.steps.size() * ctas_of(program));
  return walk;
}

// The regions behind the program. What nobody waited for may have landed or not.
void take_regions(Walk& walk) {
  ProgramExpectation& expected = walk.expected;
  expected.stores = walk.stores.boxes();
  const bool open = std::any_of(expected.stores.begin(), expected.stores.end(),
                                [](const StoredBox& stored) { return !stored.complete; });
  if (open && walk.program.held_to != HeldTo::record)
    throw Error(
        "program: it ends without the wait for its stores, and no document says that they land; "
        "have what becomes of the boxes recorded");
  for (std::size_t i = 0; i < walk.regions.size(); ++i) {
    const auto& region = walk.regions[i];
    const auto number = static_cast<std::uint8_t>(i);
    expected.regions.insert(expected.regions.end(), region.begin(), region.end());
    for (std::uint64_t at = 0; at < region.size(); at += 16) {
      expected.owners.push_back(walk.stores.owner_number(number, at));
      if (open)
        expected.region_compare.insert(
            expected.region_compare.end(), 16,
            walk.stores.has_landed(number, at) ? Compare::exact : Compare::recorded);
    }
  }
}

}  // namespace

std::uint32_t credit_step(const TileLoad& load) {
  const TensorMapSpec& map = load.map;
  const std::uint32_t size = element_bytes(map.type);
  if (map.bulk || map.im2col || map.interleave != Interleave::none)
    return 16;                            // more is not measured
  std::uint64_t start = map.base_offset;  // allocations and guards are multiples of 32
  for (std::uint32_t i = 0; i < map.rank; ++i) {
    const std::uint64_t pitch = i == 0 ? size : map.stride[i - 1];
    const std::uint32_t step = i == 0 ? 1 : map.element_stride[i];
    const std::int64_t behind = std::int64_t{load.at[i]} + map.box[i];
    const bool rows_apart = i > 0 && map.box[i] > step && step * pitch % 32 != 0;
    if (load.at[i] < 0 || behind > static_cast<std::int64_t>(map.extent[i]) || rows_apart)
      return 16;
    start += static_cast<std::uint64_t>(load.at[i]) * pitch;
  }
  return start % 32 == 0 && map.box[0] * size % 32 == 0 ? 32 : 16;
}

TileLoad tile_of(const Program& program, const Step& step) {
  const Map& map = program.maps[step.map];
  return {.map = map.spec,
          .at = step.at,
          .im2col_offsets = step.im2col_offsets,
          .destination_offset = step.offset - kGuardBytes,
          .hint = step.hint,
          .source = program.regions[map.region].source,
          .held_to = program.held_to,
          .payload = program.payload};
}

ProgramExpectation predict(const Program& program) {
  Walk walk = begin(program);
  for (; walk.step < program.steps.size(); ++walk.step) {
    const Step& step = program.steps[walk.step];
    for (std::uint32_t rank = 0; rank < ctas_of(program); ++rank) {
      const bool goes_on = !walk.ctas[rank].stopped || step.verb == Verb::snapshot;
      if (takes(step, rank) && goes_on)
        walk.expected.trace[walk.step * ctas_of(program) + rank] = take(walk, step, rank);
    }
  }
  take_regions(walk);
  return std::move(walk.expected);
}

}  // namespace tidemark
