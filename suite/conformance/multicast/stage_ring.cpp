// The ring of stages of a GEMM whose CTAs share their operands: consumers release a stage in every
// CTA that loads into it.
#include "suite/conformance/stage_ring.hpp"
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  std::vector<Op> rows;
  for (const std::uint32_t ctas : {2U, 4U, 8U})
    for (const std::uint32_t stages : {1U, 3U})
      for (const std::uint32_t consumers : {1U, 2U, 248U})
        for (const Swizzle swizzle : {Swizzle::none, Swizzle::b64}) {
          const bool is_of_quick = consumers != 2 && (stages == 1) == (swizzle == Swizzle::none);
          if (context.level == Level::quick && !is_of_quick) continue;
          const std::uint32_t blocks = stages + 2;
          const TensorMapSpec map =
              map_of(DataType::u32, {std::uint64_t{16} * blocks, 8 * ctas}, {16, 8}, swizzle);
          rows.emplace_back(program_of({map, stages, blocks, consumers, ctas}));
        }
  return rows;
}

const Register kCase{{
    .name = "multicast.stage_ring",
    .claim =
        "an arrival from another CTA of the cluster counts on the barrier that it names, and a "
        "stage that all CTAs load into is free when the consumers of all have arrived",
    .cites = "PTX ISA 9.0, 9.7.13.15.13 mbarrier.arrive, .shared::cluster; 9.7.9.25.5.2 "
             "cp.async.bulk.tensor, .multicast::cluster",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
