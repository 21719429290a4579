// The article wants the bytes announced before the copy; the documents ask only that the phase
// cannot complete in between.
#include "kernels/ops/barrier_cycle.hpp"
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const std::uint32_t count : {1U, 2U, 128U})
    for (const std::uint32_t height : {1U, 8U, 32U})
      for (const bool twice : {false, true}) {
        BarrierCycle cycle{.map = map_of(DataType::f32, {32, height + 8}, {32, height}),
                           .payload = {}};
        cycle.step = {0, 1};
        // Of both parities, since a life that goes on where the one before ended shows in one only.
        cycle.lives[0] = {.count = count, .phases = twice ? 2U : 3U};
        cycle.lives[1] = {.count = 4, .phases = 2};
        cycle.life_count = twice ? 2 : 1;
        cycle.copy_first = true;
        rows.emplace_back(cycle);
      }
  return rows;
}

const Register kCase{{
    .name = "scenario.cuda_oxide.copy_first",
    .claim = "bytes that land before they are announced count: while an arrival is pending the "
             "tx-count may be below zero",
    .cites = "PTX ISA 9.0, 9.7.13.15.2 range of the tx-count and 9.7.13.15.6; CUDA C++ Programming "
             "Guide, 10.30.2; cuda-oxide book, Key barrier rules",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
