// Arrivals: as many as a barrier can wait for, and those of threads and CTAs that leave it for
// good.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/ops/program/program.hpp"
#include "suite/case.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

// More are left to the meter that every program ends with.
constexpr std::uint32_t kByThreads = 8193;

// One barrier in each of `ctas` CTAs, and nothing to copy.
Program of_barriers(std::uint32_t ctas, std::string what) {
  return {.cluster = {ctas, 1, 1},
          .window = kGuardBytes,
          .barriers = 1,
          .regions = {},
          .maps = {},
          .steps = {},
          .payload = {},
          .what = std::move(what)};
}

// Two phases of `count` arrivals on the barrier of CTA 0, by the threads of all CTAs in turn. Each
// is looked at before its last arrival and behind it.
Program counting(std::uint32_t count, std::uint32_t ctas) {
  Program program = of_barriers(ctas, fmt::format("{} arrivals a phase by {} CTAs", count, ctas));
  program.steps = {{.verb = Verb::init, .count = count}};
  std::vector<Step>& steps = program.steps;
  const Step meet{.verb = Verb::cluster_sync, .ctas = all_ctas(program)};
  const std::uint32_t arriving = count <= kByThreads ? count - 1 : kProgramThreads;
  const std::uint8_t phases = count <= kByThreads ? 2 : 1;
  for (std::uint8_t phase = 0; phase < phases; ++phase) {
    steps.push_back(meet);
    for (std::uint32_t left = arriving, cta = 0; left > 0; cta = (cta + 1) % ctas) {
      const std::uint32_t some = std::min(left, kProgramThreads);
      steps.push_back({.verb = Verb::arrive,
                       .ctas = static_cast<std::uint16_t>(1U << cta),
                       .of = cta == 0 ? kOwnCta : std::uint8_t{0},
                       .count = some});
      left -= some;
    }
    steps.push_back(meet);
    steps.push_back({.verb = Verb::test, .parity = phase});
    if (count > kByThreads) continue;
    steps.push_back({.verb = Verb::arrive});
    steps.push_back({.verb = Verb::wait, .parity = phase, .stops = true, .ns = kMustCompleteNs});
    steps.push_back({.verb = Verb::test, .parity = kCurrentPhase});
  }
  return program;
}

std::vector<Op> counts_rows(std::uint32_t ctas) {
  std::vector<Op> rows;
  for (const std::uint32_t count :
       {1U, 257U, 4095U, 4096U, 4097U, 4353U, 8191U, 8193U, 12'289U, 65'536U, kTxCountMax})
    rows.emplace_back(counting(count, ctas));
  return rows;
}

const Register kCounts{{
    .name = "arrive.counts",
    .claim = "a phase waits for as many arrivals as its barrier was initialized with, from 1 to "
             "2^20-1, and up to 8,193 so does the next",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 expected arrival count from 1 to 2^20-1; 9.7.13.15.6 phase "
             "completion; 9.7.13.15.13 mbarrier.arrive",
    .rows = [](const RunContext&) { return counts_rows(1); },
}};

const Register kCountsRemote{{
    .name = "arrive.counts_remote",
    .claim = "so many arrivals count wherever in the cluster they come from",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 expected arrival count from 1 to 2^20-1; 9.7.13.15.13 "
             "mbarrier.arrive, shared::cluster",
    .rows = [](const RunContext&) { return counts_rows(5); },
}};

// Two phases of `count` arrivals on one barrier: `first` at once by .noComplete, one thread in the
// usual way where more are left, and all others by an instruction that tests its token. `bytes` are
// expected, and completed behind the last arrival by the last of `ctas` CTAs.
Program by_tokens(std::uint32_t count, std::uint32_t first, std::uint32_t bytes,
                  std::uint32_t ctas) {
  Program program = of_barriers(
      ctas, fmt::format("{} of {} arrivals at once, {} bytes, {} CTAs", first, count, bytes, ctas));
  program.steps = {{.verb = Verb::init, .count = count}};
  std::vector<Step>& steps = program.steps;
  const Step meet{.verb = Verb::cluster_sync, .ctas = all_ctas(program)};
  const auto last = static_cast<std::uint16_t>(1U << (ctas - 1));
  if (ctas > 1) steps.push_back({.verb = Verb::init, .ctas = last});
  const std::uint32_t one = count - first > 1 ? 1 : 0;
  for (std::uint8_t phase = 0; phase < 2; ++phase) {
    if (bytes > 0) steps.push_back({.verb = Verb::expect_tx, .bytes = bytes});
    if (first > 0) steps.push_back({.verb = Verb::pending_count, .thread = 40, .count = first});
    if (one > 0) steps.push_back({.verb = Verb::arrive, .thread = 3});
    steps.push_back({.verb = Verb::test, .parity = phase});
    steps.push_back({.verb = Verb::arrive_token, .thread = 70, .count = count - first - one});
    if (ctas > 1) steps.push_back(meet);
    if (bytes > 0)
      steps.push_back({.verb = Verb::complete_tx,
                       .ctas = last,
                       .of = ctas > 1 ? std::uint8_t{0} : kOwnCta,
                       .bytes = bytes});
    steps.push_back({.verb = Verb::wait, .parity = phase, .stops = true, .ns = kMustCompleteNs});
  }
  return program;
}

std::vector<Op> token_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t count : {1U, 2U, 3U, 33U, 256U, 4097U, 65'536U, kTxCountMax})
    for (const std::uint32_t first : std::set{0U, count / 2, count - 1})
      for (const std::uint32_t bytes : {0U, 1U, 4096U})
        rows.emplace_back(by_tokens(count, first, bytes, bytes == 1 ? 2 : 1));
  return rows;
}

const Register kToken{{
    .name = "arrive.token",
    .claim = "one instruction arrives as often as its count says; the token that it returns is "
             "that of its phase, and has what was pending before",
    .cites = "PTX ISA 9.0, 9.7.13.15.13 mbarrier.arrive, count and .noComplete; 9.7.13.15.16 "
             "mbarrier.test_wait by state; mbarrier.pending_count",
    .rows = token_rows,
}};

// CTA 0 expects `bytes` of each other CTA, which complete them by hand; it tests before each.
Program taken_off(std::uint32_t ctas, std::uint32_t bytes) {
  Program program =
      of_barriers(ctas, fmt::format("{} bytes taken off by each other of {} CTAs", bytes, ctas));
  const Step meet{.verb = Verb::cluster_sync, .ctas = all_ctas(program)};
  program.steps = {{.verb = Verb::init, .ctas = all_ctas(program)},
                   meet,
                   {.verb = Verb::arrive_expect_tx, .bytes = bytes * (ctas - 1)}};
  for (std::uint32_t cta = 1; cta < ctas; ++cta) {
    program.steps.push_back(meet);
    program.steps.push_back({.verb = Verb::test});
    program.steps.push_back(meet);
    program.steps.push_back({.verb = Verb::complete_tx,
                             .ctas = static_cast<std::uint16_t>(1U << cta),
                             .of = 0,
                             .bytes = bytes});
  }
  program.steps.push_back({.verb = Verb::wait, .stops = true, .ns = kMustCompleteNs});
  return program;
}

std::vector<Op> taken_off_rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t ctas : {2U, 3U, 8U})
    for (const std::uint32_t bytes : {1U, 16U, kTxCountMax / 7})
      rows.emplace_back(taken_off(ctas, bytes));
  return rows;
}

const Register kTakenOff{{
    .name = "arrive.complete_tx_remote",
    .claim = "bytes that one CTA expects may be completed by others of its cluster, and its "
             "phase ends with the last",
    .cites = "PTX ISA 9.0, 9.7.13.15.12 mbarrier.complete_tx, shared::cluster; 9.7.13.15.6 phase "
             "completion",
    .rows = taken_off_rows,
}};

constexpr std::uint32_t kPhases = 3;

// In each phase `dropped` threads arrive for the last time, and all others as ever. The phase is
// looked at before its last arrival, which carries the announcement of a copy.
Program leaving(const TileLoad& load, std::uint32_t count, std::uint32_t dropped,
                std::uint32_t from) {
  const std::uint16_t owner = 1, others = static_cast<std::uint16_t>(1U << from);
  const std::uint8_t of = from == 0 ? kOwnCta : std::uint8_t{0};
  Program program{.cluster = {from + 1, 1, 1},
                  .window = window_bytes(load),
                  .barriers = 1,
                  .regions = {region_of(load)},
                  .maps = {{.spec = load.map}},
                  .steps = {{.verb = Verb::init, .ctas = owner, .count = count}},
                  .payload = load.payload,
                  .what = fmt::format("{} arrivals a phase, {} of CTA {} dropped in each", count,
                                      dropped, from)};
  std::vector<Step>& steps = program.steps;
  const Step meet{.verb = Verb::cluster_sync, .ctas = all_ctas(program)};
  for (std::uint8_t phase = 0; phase < kPhases; ++phase, count -= dropped) {
    const auto parity = static_cast<std::uint8_t>(phase & 1U);
    steps.push_back(meet);
    steps.push_back({.verb = Verb::arrive_drop, .ctas = others, .of = of, .count = dropped});
    if (count - dropped > 1)
      steps.push_back({.verb = Verb::arrive,
                       .ctas = others,
                       .thread = static_cast<std::uint16_t>(dropped),
                       .of = of,
                       .count = count - dropped - 1});
    steps.push_back(meet);
    steps.push_back({.verb = Verb::test, .ctas = owner, .parity = parity});
    steps.push_back({.verb = Verb::arrive_expect_tx, .ctas = owner, .bytes = tile_bytes(load.map)});
    steps.push_back({.verb = Verb::load, .ctas = owner, .offset = kGuardBytes, .at = load.at});
    steps.push_back({.verb = Verb::wait,
                     .ctas = owner,
                     .parity = parity,
                     .stops = true,
                     .ns = kMustCompleteNs});
  }
  return program;
}

std::vector<Op> leaving_rows(std::uint32_t from) {
  const TileLoad load = tile_of_rank(DataType::u32, 2);
  std::vector<Op> rows;
  for (const std::uint32_t dropped : {1U, 2U, 5U, 31U, 64U})
    for (const std::uint32_t stay : {1U, 2U, 7U, 33U})
      rows.emplace_back(leaving(load, stay + kPhases * dropped, dropped, from));
  return rows;
}

const Register kThreads{{
    .name = "arrive_drop.threads",
    .claim = "an arrival that is dropped counts in its phase, and each later phase waits for one "
             "fewer, announced bytes included",
    .cites = "PTX ISA 9.0, 9.7.13.15.14 mbarrier.arrive_drop; 9.7.13.15.6 phase completion",
    .rows = [](const RunContext&) { return leaving_rows(0); },
}};

const Register kRemote{{
    .name = "arrive_drop.remote",
    .claim = "another CTA of the cluster leaves a barrier as its own threads do",
    .cites = "PTX ISA 9.0, 9.7.13.15.14 mbarrier.arrive_drop, shared::cluster; 9.7.13.15.8 "
             "mbarrier support with shared memory",
    .rows = [](const RunContext&) { return leaving_rows(1); },
}};

}  // namespace
}  // namespace tidemark
