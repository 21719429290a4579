// The article's loop: a barrier of all 256 threads, initialised once; each step the leader issues
// the copy and then announces its bytes, and all others arrive.
#include "kernels/ops/barrier_cycle.hpp"
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  for (const bool copy_first : {true, false})
    for (const std::uint32_t count : {256U, 128U, 32U, 2U, 1U})
      for (const std::uint32_t steps : {1U, 3U}) {
        const bool whole = context.level != Level::quick;
        const std::uint32_t height = whole ? 128 : 16;
        BarrierCycle cycle{
            .map = map_of(DataType::bf16, {192, height}, {64, height}, Swizzle::b128),
            .payload = {}};
        cycle.step = {64};  // along K
        cycle.lives[0] = {.count = count, .phases = steps};
        cycle.copy_first = copy_first;
        rows.emplace_back(cycle);
      }
  return rows;
}

const Register kCase{{
    .name = "scenario.vizuara.handshake",
    .claim = "a barrier initialised with the number of threads opens each step only when all have "
             "arrived and all announced bytes have landed, the copy issued before the announcement "
             "or behind it",
    .cites = "PTX ISA 9.0, 9.7.13.15.6 phase completion; Vizuara Kernel Engineering, the mbarrier "
             "handshake",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
