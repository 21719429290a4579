// The life of a managed barrier: init, arrive and wait, inval; then the memory is plain data, and a
// barrier again with another count.
#include "kernels/ops/barrier_cycle.hpp"
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

constexpr std::array<std::array<BarrierLife, 3>, 8> kLives{{
    {{{1, 1}, {1, 1}, {1, 1}}},
    {{{1, 3}, {128, 2}, {5, 1}}},
    {{{128, 1}, {1, 2}, {128, 1}}},
    {{{128, 2}, {64, 1}, {32, 3}}},
    {{{2, 1}, {3, 1}, {2, 2}}},
    {{{256, 3}, {255, 1}, {256, 1}}},
    {{{33, 1}, {31, 3}, {1, 1}}},
    {{{5, 5}, {7, 1}, {6, 2}}},
}};

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (const auto& lives : kLives)
    for (std::uint32_t rank = 1; rank <= 3; ++rank) {
      const TileLoad load = tile_of_rank(DataType::f32, rank);
      BarrierCycle cycle{.map = load.map, .payload = {}};
      cycle.step[0] = 4;
      cycle.life_count = 3;
      for (std::uint32_t i = 0; i < 3; ++i) cycle.lives[i] = lives[i];
      rows.emplace_back(cycle);
    }
  return rows;
}

const Register kCase{{
    .name = "scenario.cuda_oxide.barrier_cycle",
    .claim = "a barrier that was invalidated leaves plain memory, and initialised again it has its "
             "new count and starts with phase 0, whatever it was before",
    .cites = "PTX ISA 9.0, 9.7.13.15.9 mbarrier.init and 9.7.13.15.10 mbarrier.inval; cuda-oxide "
             "book, The mbarrier dance",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
