// The steps of a mismatched announcement.
#include "kernels/ops/expect_tx.hpp"

#include <fmt/format.h>

#include "kernels/error.hpp"

namespace tidemark::kernels {
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

}  // namespace tidemark::kernels
