// Expected bytes that do not match the copy, of each kind of copy, in the first phase of a barrier
// and in later ones, with one arrival and with many, from each CTA of a cluster.
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "kernels/ops/barriers.hpp"
#include "kernels/ops/program/program.hpp"
#include "suite/case.hpp"
#include "suite/conformance/load_store_bulk.hpp"
#include "suite/conformance/load_store_im2col.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// `load`, by its map or bulk, a multicast in a cluster; or a send of as many bytes out of the
// issuer's window. Phases 0 to `phase` - 1 expect what their copy brings. Phase `phase` expects
// `off` bytes more in the CTAs of `wrong`. Each phase has a place of its own in the window.
struct Mismatch {
  TileLoad load{};
  bool sends = false;
  std::uint32_t ctas = 1, issuer = 0;
  std::uint16_t to = 1, wrong = 0xffff;  // CTAs: whose barriers are credited
  std::uint32_t count = 1;               // arrivals a phase
  std::uint32_t phase = 0;
  std::int32_t off = 0;
  bool remote = false;  // the issuer expects and arrives for the others
  IssueOrder order = IssueOrder::announced_first;
};

std::uint32_t slot_bytes(const Mismatch& row) {
  return (row.load.destination_offset + tile_span(row.load.map) + 1023) / 1024 * 1024;
}

std::uint32_t source_of(const Mismatch& row) {  // of a send, behind all places
  return kGuardBytes + (row.phase + 1) * slot_bytes(row);
}

std::uint16_t only(std::uint32_t cta) { return static_cast<std::uint16_t>(1U << cta); }

bool is_wrong(const Mismatch& row, std::uint32_t phase, std::uint32_t cta) {
  return phase == row.phase && (row.wrong >> cta & 1U) != 0;
}

void append_arming(Program& program, const Mismatch& row, std::uint32_t phase) {
  for (std::uint32_t cta = 0; cta < row.ctas; ++cta) {
    if ((row.to >> cta & 1U) == 0) continue;
    const bool remote = row.remote && cta != row.issuer;
    const Step named{.ctas = remote ? only(row.issuer) : only(cta),
                     .of = remote ? static_cast<std::uint8_t>(cta) : kOwnCta};
    Step arrivals = named, expect = named;
    arrivals.verb = Verb::arrive;
    arrivals.count = row.count - 1;
    expect.verb = Verb::arrive_expect_tx;
    expect.bytes = tile_bytes(row.load.map);
    if (is_wrong(row, phase, cta)) expect.bytes += static_cast<std::uint32_t>(row.off);
    if (row.count > 1) program.steps.push_back(arrivals);
    program.steps.push_back(expect);
  }
}

void append_copy(Program& program, const Mismatch& row, std::uint32_t phase) {
  const std::uint32_t place = kGuardBytes + phase * slot_bytes(row) + row.load.destination_offset;
  Step copy{.verb = Verb::load,
            .ctas = only(row.issuer),
            .hint = row.load.hint,
            .mask = row.ctas > 1 ? row.to : std::uint16_t{0},
            .offset = place,
            .at = row.load.at,
            .im2col_offsets = row.load.im2col_offsets};
  if (row.sends) {
    const auto to = static_cast<std::uint8_t>(std::countr_zero(row.to));
    copy = {.verb = Verb::send,
            .ctas = only(row.issuer),
            .of = to == row.issuer ? kOwnCta : to,
            .offset = source_of(row),
            .bytes = tile_bytes(row.load.map),
            .at = {static_cast<std::int32_t>(place)}};
  }
  program.steps.push_back(copy);
}

// CTAs wait long where all bytes are expected, and do not stop where they are not.
void append_waits(Program& program, const Mismatch& row, std::uint32_t phase) {
  for (std::uint32_t cta = 0; cta < row.ctas; ++cta) {
    if ((row.to >> cta & 1U) == 0) continue;
    const bool wrong = is_wrong(row, phase, cta);
    program.steps.push_back({.verb = Verb::wait,
                             .ctas = only(cta),
                             .parity = static_cast<std::uint8_t>(phase & 1U),
                             .stops = !wrong,
                             .ns = wrong ? kSettleNs : kMustCompleteNs});
  }
}

Program program_of(const Mismatch& row) {
  Program program{.cluster = {row.ctas, 1, 1},
                  .window = source_of(row) + (row.sends ? slot_bytes(row) : 0) + kGuardBytes,
                  .barriers = 1,
                  .regions = {region_of(row.load)},
                  .maps = {{.spec = row.load.map}},
                  .steps = {},
                  .payload = row.load.payload,
                  .what = fmt::format("{} bytes off in phase {} of {} arrivals, CTA {} to {:#x}",
                                      row.off, row.phase, row.count, row.issuer, row.to)};
  const std::uint16_t all = all_ctas(program);
  const Step meet{.verb = Verb::cluster_sync, .ctas = all};
  std::vector<Step>& steps = program.steps;
  steps.push_back({.verb = Verb::init, .ctas = all, .count = row.count});
  steps.push_back({.verb = Verb::test, .ctas = all});
  if (row.sends)
    steps.push_back({.verb = Verb::fill,
                     .ctas = only(row.issuer),
                     .offset = source_of(row),
                     .bytes = tile_bytes(row.load.map)});
  for (std::uint32_t phase = 0; phase <= row.phase; ++phase) {
    steps.push_back(meet);
    if (row.order == IssueOrder::announced_first) {
      append_arming(program, row, phase);
      steps.push_back(meet);
    }
    append_copy(program, row, phase);
    if (row.order == IssueOrder::landed_first) {
      steps.push_back({.verb = Verb::delay, .ctas = only(row.issuer), .ns = kSettleNs});
      steps.push_back(meet);
    }
    if (row.order != IssueOrder::announced_first) append_arming(program, row, phase);
    append_waits(program, row, phase);
  }
  return program;
}

// By how much `bytes` are missed: single bytes, less than a chunk, chunks, half and all of it, and
// as far as a tx-count goes.
std::vector<std::int32_t> offs_of(std::uint32_t bytes) {
  const auto size = static_cast<std::int32_t>(bytes);
  return {1,  8,  16,  size,      static_cast<std::int32_t>(kTxCountMax) - size,
          -1, -8, -16, -size / 2, -size};
}

constexpr std::array<std::uint32_t, 5> kCounts{1, 2, 33, 1, 256};
constexpr std::uint32_t kPhases = 3;

// `copy` with each miss in each of kPhases phases; orders, counts, who expects and, in a cluster,
// who issues and which of the CTAs is wrong in turn.
void append_misses(std::vector<Op>& rows, const Mismatch& copy) {
  for (std::uint32_t phase = 0; phase < kPhases; ++phase)
    for (const std::int32_t off : offs_of(tile_bytes(copy.load.map))) {
      const auto turn = static_cast<std::uint32_t>(rows.size());
      Mismatch row = copy;
      row.phase = phase;
      row.off = off;
      row.order = static_cast<IssueOrder>((turn + phase) % 3);
      // With the phase: ten misses a phase would else meet the same count each time.
      row.count = kCounts[(turn + phase) % kCounts.size()];
      row.issuer = (turn + phase) % copy.ctas;
      row.remote = (turn + phase) % 2 == 1;
      if (copy.sends) row.to = only((turn / copy.ctas) % copy.ctas);
      if (copy.ctas > 2 && turn % 3 != 0) row.wrong = only(turn % copy.ctas);
      if ((row.wrong & row.to) == 0) row.wrong = 0xffff;
      rows.emplace_back(program_of(row));
    }
}

std::vector<Op> bulk_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t bytes : {16U, 272U, 2048U})
    append_misses(rows, {.load = bulk_load(DataType::u8, bytes, 32)});
  return rows;
}

const Register kBulk{{
    .name = "expect_tx.bulk",
    .claim = "expect_tx that is d bytes off what a bulk copy brings leaves tx-count at d, in the "
             "first three phases and with 1 to 256 arrivals; the phase does not complete where d "
             "is above zero, and the barrier can be brought back",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 tx-count range; 9.7.13.15.6 phase completion; 9.7.9.25.4.1 "
             "cp.async.bulk",
    .rows = bulk_rows,
}};

std::vector<Op> multicast_rows(const RunContext&) {
  std::vector<Op> rows;
  append_misses(rows, {.load = small_box(), .ctas = 4, .to = 0xf});
  append_misses(rows, {.load = small_box(), .ctas = 5, .to = 0b10110});
  append_misses(rows, {.load = bulk_load(DataType::u32, 272, 16), .ctas = 3, .to = 7});
  append_misses(
      rows, {.load = in_corner(tile_of_rank(DataType::f32, 3), 5, 1), .ctas = 8, .to = 0b11011010});
  return rows;
}

const Register kMulticast{{
    .name = "expect_tx.multicast",
    .claim = "expect_tx that is d bytes off what a multicast brings to a CTA leaves tx-count at d "
             "there, whoever issues it and expects, and has no say in the other CTAs of the mask",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 tx-count range; 9.7.13.15.6 phase completion; 9.7.9.25.5.2 "
             "cp.async.bulk.tensor, .multicast::cluster; 9.7.9.25.4.1 cp.async.bulk",
    .rows = multicast_rows,
}};

// Tile loads, whose first phase has cases of its own, and im2col loads.
std::vector<Op> phases_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const TileLoad& load : mismatch_boxes())
    if (tile_bytes(load.map) <= 2048) append_misses(rows, {.load = load});
  const TileLoad pixels =
      with_offset(with_corners(im2col_load(DataType::u16, {24, 9, 7, 2}, 16, 12), -1, -1), 1);
  append_misses(rows, {.load = pixels});
  append_misses(rows, {.load = pixels, .ctas = 3, .to = 7});
  return rows;
}

const Register kLaterPhases{{
    .name = "expect_tx.phases",
    .claim = "expect_tx that is d bytes off what a tile or im2col load brings leaves tx-count at d "
             "in the second and third phase as in the first, with 1 to 256 arrivals",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 tx-count range; 9.7.13.15.6 phase completion; 9.7.9.25.5.2 "
             "cp.async.bulk.tensor",
    .rows = phases_rows,
}};

std::vector<Op> send_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t ctas : {1U, 2U, 3U})
    for (const std::uint32_t bytes : {16U, 528U})
      append_misses(rows, {.load = bulk_load(DataType::u8, bytes, 0), .sends = true, .ctas = ctas});
  return rows;
}

const Register kSend{{
    .name = "expect_tx.send",
    .claim = "expect_tx that is d bytes off what a copy between CTAs brings leaves tx-count at d "
             "in the CTA that gets it, whichever CTA sends and whichever expects",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 tx-count range; 9.7.13.15.6 phase completion; 9.7.9.25.4.1 "
             "cp.async.bulk.shared::cluster.shared::cta",
    .rows = send_rows,
}};

}  // namespace
}  // namespace tidemark
