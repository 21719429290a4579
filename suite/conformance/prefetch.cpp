// Prefetches of boxes, where they stand among the steps of a load, and that they change nothing.
#include <array>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "kernels/ops/program/program.hpp"
#include "suite/case.hpp"
#include "suite/conformance/load_store_bulk.hpp"
#include "suite/conformance/load_store_im2col.hpp"

namespace tidemark {
namespace {

using BoxAt = std::array<std::int32_t, kMaxRank>;

Step prefetch_of(const TileLoad& load, const BoxAt& box, std::uint16_t thread) {
  return {
      .verb = Verb::prefetch, .thread = thread, .at = box, .im2col_offsets = load.im2col_offsets};
}

// The load, with `boxes` of its tensor prefetched before it, and its own while it is in flight.
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

// The box is prefetched, stored over, and loaded.
Program restored(const TileLoad& load) {
  const std::uint32_t offset = kGuardBytes + load.destination_offset;
  Program program = program_of(load);
  program.what =
      fmt::format("a box of rank {} that is prefetched, stored over and loaded", load.map.rank);
  program.steps = {{.verb = Verb::init},
                   prefetch_of(load, load.at, 0),
                   {.verb = Verb::delay, .ns = kLandNs},
                   {.verb = Verb::fill, .offset = offset, .bytes = tile_span(load.map)},
                   {.verb = Verb::store, .offset = offset, .at = load.at},
                   {.verb = Verb::commit},
                   {.verb = Verb::wait_group},
                   {.verb = Verb::poison, .bytes = program.window},
                   {.verb = Verb::arrive_expect_tx, .bytes = tile_bytes(load.map)},
                   {.verb = Verb::load, .hint = load.hint, .offset = offset, .at = load.at},
                   {.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs},
                   {.verb = Verb::snapshot}};
  return program;
}

// Prefetches of boxes inside, across the sides and wholly outside of tensors of every rank.
std::vector<Op> box_rows(const RunContext&) {
  constexpr std::int32_t kFar = 300;  // steps, more than any extent
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      const TileLoad inside = tile_of_rank(type, rank);
      const TileLoad across = in_corner(inside, 0, 1), far = in_corner(inside, 0, kFar);
      const std::uint32_t last = (1U << rank) - 1;
      rows.emplace_back(prefetched(inside, {inside.at}));
      rows.emplace_back(prefetched(across, {across.at, in_corner(inside, last, 1).at}));
      rows.emplace_back(prefetched(far, {far.at, in_corner(inside, last, kFar).at}));
      rows.emplace_back(prefetched(inside, {across.at, far.at, inside.at, inside.at}));
    }
  for (const std::uint32_t bytes : {16U, 4112U, 65552U}) {
    const TileLoad load = bulk_load(DataType::u32, bytes, 48);
    rows.emplace_back(prefetched(load, {{0}, load.at}));
  }
  return rows;
}

const Register kBox{{
    .name = "prefetch.box",
    .claim = "a prefetch of any box, inside its tensor or not, changes no byte, credits no barrier "
             "and is no error, and a load of the box then does what it does without",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.3 cp.async.bulk.prefetch; 9.7.9.25.5.4 "
             "cp.async.bulk.prefetch.tensor",
    .rows = box_rows,
}};

BoxAt near(const TileLoad& load, Draws& draws) {
  BoxAt at = load.at;
  for (std::uint32_t i = 0; i < load.map.rank; ++i)
    at[i] += step_of(load, i) * (static_cast<std::int32_t>(draws.below(9)) - 4);
  return at;
}

// Prefetches before loads that are drawn at random over all that they can vary.
std::vector<Op> random_rows(const RunContext& context) {
  constexpr std::uint32_t kRows[] = {32, 1000, 4000};  // by level
  const std::uint32_t count = kRows[static_cast<std::size_t>(context.level)];
  std::vector<Op> rows;
  for (std::uint32_t i = 0; i < count; ++i) {
    Draws draws(splitmix64(context.seed + i));
    const TileLoad bulk = random_bulk_load(splitmix64(context.seed + i));
    const TileLoad load = random_tile(splitmix64(context.seed + i));
    const TileLoad pixels = random_im2col(splitmix64(context.seed + i));
    const std::uint32_t kind = draws.below(8);
    if (kind == 0)
      rows.emplace_back(prefetched(bulk, {{0}, bulk.at}));
    else if (kind == 1)
      rows.emplace_back(restored(tile_of_rank(DataType::u32, draws.between(1, kMaxRank))));
    else if (kind == 2)
      rows.emplace_back(prefetched(pixels, {pixels.at, pixels.at}));
    else
      rows.emplace_back(prefetched(load, {load.at, near(load, draws)}));
  }
  return rows;
}

const Register kRandom{{
    .name = "prefetch.random",
    .claim = "prefetches change nothing of any legal load, however its features meet",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.4 cp.async.bulk.prefetch.tensor",
    .rows = random_rows,
}};

// Boxes that are stored over between their prefetch and their load.
std::vector<Op> stored_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const DataType type : kTypeOfEachSize)
    for (std::uint32_t rank = 1; rank <= kMaxRank; ++rank) {
      TileLoad load = tile_of_rank(type, rank);
      load.destination_offset = 128;
      rows.emplace_back(restored(load));
      load.hint = CacheHint::evict_first;
      load.cold = true;
      rows.emplace_back(restored(load));
    }
  for (const std::uint32_t bytes : {16U, 4112U})
    rows.emplace_back(restored(bulk_load(DataType::u32, bytes, 48)));
  return rows;
}

const Register kStored{{
    .name = "prefetch.stored",
    .claim = "what was stored after a prefetch is what a load brings",
    .cites = "PTX ISA 9.0, 9.7.9.25.5.4 cp.async.bulk.prefetch.tensor; 9.7.9.25.3.2 "
             "cp.async.bulk.wait_group",
    .rows = stored_rows,
}};

}  // namespace
}  // namespace tidemark
