// Stores complete by commit group and wait group, behind which a stage is loaded again.
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext&) {
  std::vector<Op> rows;
  for (std::uint32_t stages = 1; stages <= kTripStages; ++stages)
    for (std::uint32_t group = 1; group <= stages; ++group)
      for (const std::uint32_t ctas : {1U, 2U}) {
        const TensorMapSpec map = map_of(DataType::u32, {16, 27}, {8, 3});  // 18 tiles of 96 bytes
        TensorMapSpec padded = map;
        padded.stride[0] += 32;
        TileRoundTrip trip = there_and_back(map, padded);
        trip.ctas = ctas;
        trip.stages = stages;
        trip.stores_per_group = group;
        trip.work = ctas == 1 ? TileWork::identity : TileWork::add_one;
        rows.emplace_back(trip);
        const TensorMapSpec wide = map_of(DataType::bf16, {128, 40}, {64, 8}, Swizzle::b128);
        trip = there_and_back(wide, wide);
        trip.ctas = ctas;
        trip.stages = stages;
        trip.stores_per_group = group;
        rows.emplace_back(trip);
      }
  return rows;
}

const Register kCase{{
    .name = "scenario.tirx.store_group",
    .claim = "behind the wait for a group of stores to have read shared memory the stage can be "
             "loaded again, and behind the full wait all they wrote is in memory",
    .cites = "PTX ISA 9.0, cp.async.bulk.commit_group and cp.async.bulk.wait_group; TIRx book, "
             "Completion: Stores",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
