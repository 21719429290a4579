// Bulk copies from the shared memory of one CTA into that of another. Sources stand in front of the
// places that sends land at.
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "kernels/ops/program/program.hpp"
#include "suite/case.hpp"
#include "suite/conformance/load_store_bulk.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark {
namespace {

struct Send {
  std::uint8_t from = 0, to = 0;  // CTAs
  std::uint32_t offset = 0;       // in the window of `from`
  std::uint32_t at = 0;           // in the window of `to`
  std::uint32_t bytes = 0;        // a multiple of 16
  std::uint16_t thread = 0;       // of `from`
};

// In the first of two rounds the sources are filled, in the second they are what the first
// brought. Each round has a barrier in each CTA, which waits there for all that comes.
struct SendRounds {
  std::uint32_t ctas = 2;
  std::uint32_t window = 0;
  std::vector<Send> first, second{};
};

std::uint16_t only(std::uint32_t cta) { return static_cast<std::uint16_t>(1U << cta); }

void append_round(Program& program, const std::vector<Send>& sends, std::uint8_t barrier) {
  std::vector<Step>& steps = program.steps;
  std::vector<std::uint32_t> announced(ctas_of(program));
  for (const Send& send : sends) {
    announced[send.to] += send.bytes;
    if (barrier == 0)
      steps.push_back({.verb = Verb::fill,
                       .ctas = only(send.from),
                       .offset = send.offset,
                       .bytes = send.bytes});
  }
  for (std::uint32_t cta = 0; cta < announced.size(); ++cta)
    steps.push_back({.verb = Verb::arrive_expect_tx,
                     .ctas = only(cta),
                     .barrier = barrier,
                     .bytes = announced[cta]});
  steps.push_back({.verb = Verb::cluster_sync, .ctas = all_ctas(program)});
  for (const Send& send : sends)
    steps.push_back({.verb = Verb::send,
                     .ctas = only(send.from),
                     .thread = send.thread,
                     .barrier = barrier,
                     .of = send.from == send.to ? kOwnCta : send.to,
                     .offset = send.offset,
                     .bytes = send.bytes,
                     .at = {static_cast<std::int32_t>(send.at)}});
  steps.push_back({.verb = Verb::wait,
                   .ctas = all_ctas(program),
                   .barrier = barrier,
                   .stops = true,
                   .ns = kMustCompleteNs});
  steps.push_back({.verb = Verb::snapshot, .ctas = all_ctas(program)});
}

Program program_of(const SendRounds& rounds) {
  const TileLoad words = bulk_load(DataType::u8, 16, 0);  // whose source the fills have
  Program program{.cluster = {rounds.ctas, 1, 1},
                  .window = rounds.window,
                  .barriers = rounds.second.empty() ? 1U : 2U,
                  .regions = {region_of(words)},
                  .maps = {{.spec = words.map}},
                  .steps = {},
                  .payload = {}};
  program.what = fmt::format(
      "{} sends and {} of what they brought between {} CTAs, the first of "
      "{} bytes from byte {} of CTA {} to byte {} of CTA {}",
      rounds.first.size(), rounds.second.size(), rounds.ctas, rounds.first[0].bytes,
      rounds.first[0].offset, rounds.first[0].from, rounds.first[0].at, rounds.first[0].to);
  for (std::uint32_t i = 0; i < program.barriers; ++i)
    program.steps.push_back(
        {.verb = Verb::init, .ctas = all_ctas(program), .barrier = static_cast<std::uint8_t>(i)});
  append_round(program, rounds.first, 0);
  if (!rounds.second.empty()) append_round(program, rounds.second, 1);
  return program;
}

// Each of `ctas` CTAs sends the same `bytes` to each, itself too.
SendRounds every_pair(std::uint32_t ctas, std::uint32_t bytes) {
  const std::uint32_t slot = bytes + 16;
  SendRounds rounds{.ctas = ctas, .window = 2 * kGuardBytes + 2 * ctas * slot, .first = {}};
  for (std::uint32_t from = 0; from < ctas; ++from)
    for (std::uint32_t to = 0; to < ctas; ++to)
      rounds.first.push_back({.from = static_cast<std::uint8_t>(from),
                              .to = static_cast<std::uint8_t>(to),
                              .offset = kGuardBytes + from * slot,
                              .at = kGuardBytes + (ctas + from) * slot,
                              .bytes = bytes});
  return rounds;
}

// Up to eight sends of up to 1 KiB each in a cluster of 1, 2, 4 or 8, some of which are sent on; a
// function of `seed` alone.
SendRounds random_sends(std::uint64_t seed) {
  constexpr std::uint32_t kSources = 4096, kMostSends = 8, kMostBytes = 1024;
  Draws draws(splitmix64(seed));
  SendRounds rounds{.ctas = 1U << draws.below(4),
                    .window = 2 * kGuardBytes + kSources + 2 * kMostSends * 1072,
                    .first = {}};
  std::vector<std::uint32_t> free(rounds.ctas, kGuardBytes + kSources);
  const auto place = [&](const Send& send) {
    const std::uint32_t at = free[send.to] + 16 * draws.below(4);
    free[send.to] = at + send.bytes;
    return at;
  };
  const auto some_cta = [&] { return static_cast<std::uint8_t>(draws.below(rounds.ctas)); };
  for (std::uint32_t i = draws.between(1, kMostSends); i > 0; --i) {
    Send send{
        .from = some_cta(), .to = some_cta(), .bytes = 16 * draws.between(1, kMostBytes / 16)};
    send.offset = kGuardBytes + 16 * draws.below((kSources - send.bytes) / 16 + 1);
    send.at = place(send);
    send.thread = static_cast<std::uint16_t>(draws.below(kProgramThreads));
    rounds.first.push_back(send);
  }
  for (const Send& came : rounds.first) {
    if (draws.below(3) != 0) continue;
    Send send{.from = came.to, .to = some_cta(), .offset = came.at, .bytes = came.bytes};
    send.at = place(send);
    rounds.second.push_back(send);
  }
  return rounds;
}

// Every pair of the CTAs of clusters that a GPU need not be able to start.
std::vector<Op> cluster16_rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t ctas = 9; ctas <= kProgramCtas; ++ctas)
    rows.emplace_back(program_of(every_pair(ctas, ctas % 2 == 0 ? 16 : 144)));
  return rows;
}

const Register kCluster16{{
    .name = "cluster.send.cluster16",
    .claim = "where a GPU can start clusters of 9 to 16 CTAs, bulk copies go from each CTA to each",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk.shared::cluster.shared::cta; CUDA C++ "
             "Programming Guide, cudaFuncAttributeNonPortableClusterSizeAllowed",
    .rows = cluster16_rows,
}};

// Sends drawn at random, some of which are sent on.
std::vector<Op> random_rows(const RunContext& context) {
  return drawn_rows(context, {32, 1000, 4000},
                    [](std::uint64_t seed) { return program_of(random_sends(seed)); });
}

const Register kRandom{{
    .name = "cluster.send.random",
    .claim =
        "what several CTAs send to one lands whole, and may be sent on by the CTA that saw the "
        "phase of its barrier complete",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk.shared::cluster.shared::cta",
    .rows = random_rows,
}};

// Sends of every size class, between every two CTAs of a cluster, from and to every address on 16.
std::vector<Op> sizes_rows(const RunContext&) {
  std::vector<Op> rows;
  // First what compute-sanitizer takes: rows into no own window (ci/gpu).
  for (std::uint32_t step = 1; step < 8; ++step) {
    rows.emplace_back(program_of({2, 4096, {{0, 1, 1024 + 16 * step, 1024, 272}}}));
    rows.emplace_back(program_of({2, 4096, {{1, 0, 1024, 2048 - 16 * step, 272}}}));
  }
  for (const std::uint32_t bytes : {16U, 32U, 48U, 112U, 128U, 144U, 1008U, 4112U})
    rows.emplace_back(program_of(every_pair(2, bytes)));
  for (const std::uint32_t bytes : {16U, 1040U})
    rows.emplace_back(program_of(every_pair(4, bytes)));
  for (const std::uint32_t bytes : {16U, 272U}) rows.emplace_back(program_of(every_pair(8, bytes)));
  for (const std::uint32_t ctas : {3U, 5U, 6U, 7U})
    rows.emplace_back(program_of(every_pair(ctas, 16 * ctas)));
  constexpr std::uint32_t kMost = 223 * 1024;  // a CTA has 227 KiB, less guards and state
  rows.emplace_back(program_of({2, kMost + 2048, {{1, 0, 1024, 1024, kMost}}}));
  return rows;
}

const Register kSizes{{
    .name = "cluster.send.sizes",
    .claim = "a bulk copy between the windows of a cluster brings so many consecutive bytes, any "
             "multiple of 16, from any CTA to any, itself too, credits them once to the barrier of "
             "the CTA that gets them and touches nothing else",
    .cites = "PTX ISA 9.0, 9.7.9.25.4.1 cp.async.bulk.shared::cluster.shared::cta",
    .rows = sizes_rows,
}};

}  // namespace
}  // namespace tidemark
