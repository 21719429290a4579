// Bulk copies from the shared memory of one CTA into that of another.
#include "suite/case.hpp"
#include "suite/conformance/send.hpp"
#include "suite/conformance/tile.hpp"

namespace tidemark::suite {
namespace {

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
}  // namespace tidemark::suite
