// Sources stand in front of the places that sends land at.
#include "suite/conformance/send.hpp"

#include <fmt/format.h>

#include "suite/conformance/bulk.hpp"

namespace tidemark::suite {
namespace {

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
                     .of = send.from == send.to ? kernels::kOwnCta : send.to,
                     .offset = send.offset,
                     .bytes = send.bytes,
                     .at = {static_cast<std::int32_t>(send.at)}});
  steps.push_back({.verb = Verb::wait,
                   .ctas = all_ctas(program),
                   .barrier = barrier,
                   .stops = true,
                   .ns = kernels::kMustCompleteNs});
  steps.push_back({.verb = Verb::snapshot, .ctas = all_ctas(program)});
}

}  // namespace

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

SendRounds every_pair(std::uint32_t ctas, std::uint32_t bytes) {
  const std::uint32_t slot = bytes + 16;
  SendRounds rounds{
      .ctas = ctas, .window = 2 * kernels::kGuardBytes + 2 * ctas * slot, .first = {}};
  for (std::uint32_t from = 0; from < ctas; ++from)
    for (std::uint32_t to = 0; to < ctas; ++to)
      rounds.first.push_back({.from = static_cast<std::uint8_t>(from),
                              .to = static_cast<std::uint8_t>(to),
                              .offset = kernels::kGuardBytes + from * slot,
                              .at = kernels::kGuardBytes + (ctas + from) * slot,
                              .bytes = bytes});
  return rounds;
}

SendRounds random_sends(std::uint64_t seed) {
  constexpr std::uint32_t kSources = 4096, kMostSends = 8, kMostBytes = 1024;
  Draws draws(splitmix64(seed));
  SendRounds rounds{.ctas = 1U << draws.below(4),
                    .window = 2 * kernels::kGuardBytes + kSources + 2 * kMostSends * 1072,
                    .first = {}};
  std::vector<std::uint32_t> free(rounds.ctas, kernels::kGuardBytes + kSources);
  const auto place = [&](const Send& send) {
    const std::uint32_t at = free[send.to] + 16 * draws.below(4);
    free[send.to] = at + send.bytes;
    return at;
  };
  const auto some_cta = [&] { return static_cast<std::uint8_t>(draws.below(rounds.ctas)); };
  for (std::uint32_t i = draws.between(1, kMostSends); i > 0; --i) {
    Send send{
        .from = some_cta(), .to = some_cta(), .bytes = 16 * draws.between(1, kMostBytes / 16)};
    send.offset = kernels::kGuardBytes + 16 * draws.below((kSources - send.bytes) / 16 + 1);
    send.at = place(send);
    send.thread = static_cast<std::uint16_t>(draws.below(kernels::kProgramThreads));
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

}  // namespace tidemark::suite
