// Programs of barriers: expect_tx, cycles of phases, and multicast loads.
#include "kernels/ops/barriers.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark {

// The steps of a mismatched announcement.

namespace {

constexpr std::uint8_t kA = 0, kB = 1;
constexpr std::uint16_t kIssuer = 1;  // CTA 0

void require_sound(const ExpectTx& op) {
  const std::uint64_t announced = announced_bytes(op, announced_barrier(op));
  if (op.announcements > 2 || op.parity > 1)
    throw Error(fmt::format("expect_tx: {} announcements and parity {}; take 0 to 2, and 0 or 1",
                            op.announcements, op.parity));
  if (op.announcements == 0 && op.arrival == Arrival::with_announcement)
    throw Error(
        "expect_tx: the arrival comes with an announcement and there is none; let it come "
        "separately");
  if (op.simulated[0] == 0 && op.simulated[1] != 0)
    throw Error("expect_tx: a second simulated credit without a first; fill them in order");
  if (announced > kTxCountMax || credit_bytes(op) > kTxCountMax)
    throw Error(
        fmt::format("expect_tx: {} bytes announced and {} credited leave the range of a tx-count; "
                    "take at most {}",
                    announced, credit_bytes(op), kTxCountMax));
  if (announced_bytes(op, 0) < credit_bytes(op) && credit_bytes(op) == kTxCountMax)
    throw Error(
        "expect_tx: the count ends on its lower bound, from which no meter can bring it back; "
        "credit a byte less");
}

// Both barriers of each CTA.
void append_to_both(Program& program, Step step) {
  step.ctas = all_ctas(program);
  for (const std::uint8_t barrier : {kA, kB}) {
    step.barrier = barrier;
    program.steps.push_back(step);
  }
}

void append_issue(Program& program, const ExpectTx& op) {
  if (!is_simulated(op)) {
    program.steps.push_back({.verb = Verb::load,
                             .ctas = kIssuer,
                             .hint = op.load.hint,
                             .offset = kGuardBytes + op.load.destination_offset,
                             .at = op.load.at});
    return;
  }
  for (const std::uint32_t bytes : op.simulated)
    if (bytes != 0)
      program.steps.push_back({.verb = Verb::complete_tx, .ctas = kIssuer, .bytes = bytes});
}

void append_announcements(Program& program, const ExpectTx& op) {
  for (std::uint32_t i = 0; i < op.announcements; ++i) {
    // One arrival a phase: a second would be one too many, which is undefined.
    const bool arrives = op.arrival == Arrival::with_announcement && i + 1 == op.announcements;
    program.steps.push_back({.verb = arrives ? Verb::arrive_expect_tx : Verb::expect_tx,
                             .ctas = kIssuer,
                             .barrier = op.on == AnnouncedOn::other_barrier ? kB : kA,
                             .of = op.on == AnnouncedOn::peer ? std::uint8_t{1} : kOwnCta,
                             .bytes = op.announced});
  }
  if (op.arrival == Arrival::separate)
    program.steps.push_back({.verb = Verb::arrive, .ctas = kIssuer});
}

void append_mismatch(Program& program, const ExpectTx& op) {
  const Step settle{.verb = Verb::delay, .ctas = kIssuer, .ns = kSettleNs};
  if (op.order == IssueOrder::announced_first) append_announcements(program, op);
  append_issue(program, op);
  if (op.order == IssueOrder::landed_first) program.steps.push_back(settle);
  if (op.order != IssueOrder::announced_first) append_announcements(program, op);
  if (op.arrival != Arrival::late) return;
  program.steps.push_back(settle);
  program.steps.push_back({.verb = Verb::arrive, .ctas = kIssuer});
}

}  // namespace

Program program_of(const ExpectTx& op) {
  require_sound(op);
  const std::uint32_t tile = kGuardBytes + op.load.destination_offset;
  Program program{.cluster = {blocks_of(op), 1, 1},
                  .window = window_bytes(op.load),
                  .barriers = 2,
                  .regions = {region_of(op.load)},
                  .maps = {{.spec = op.load.map}},
                  .steps = {},
                  .held_to = op.load.held_to,
                  .payload = op.load.payload};
  const auto all = all_ctas(program);
  append_to_both(program, {.verb = Verb::init});
  append_to_both(program, {.verb = Verb::test});
  // Nothing is announced on a barrier of the peer before its init.
  program.steps.push_back({.verb = Verb::cluster_sync, .ctas = all});
  append_mismatch(program, op);
  program.steps.push_back({.verb = Verb::wait,
                           .ctas = kIssuer,
                           .parity = static_cast<std::uint8_t>(op.parity),
                           .ns = is_announced_exactly(op) ? kMustCompleteNs : kSettleNs});
  program.steps.push_back({.verb = Verb::missing,
                           .ctas = kIssuer,
                           .offset = tile,
                           .bytes = tile_bytes(op.load.map) / 16 * 16});
  return program;
}

// The steps of a barrier cycle.

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

// The steps of a multicast load.

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

}  // namespace tidemark
