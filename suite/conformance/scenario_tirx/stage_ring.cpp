// Stages that are loaded, consumed and loaded again, as the k-blocks of a GEMM are.
#include "suite/conformance/stage_ring.hpp"
#include "suite/case.hpp"
#include "suite/conformance/round_trip.hpp"

namespace tidemark::suite {
namespace {

std::vector<Op> rows(const RunContext& context) {
  const std::uint32_t height = context.level == Level::quick ? 16 : 64;
  std::vector<Op> rows;
  for (const std::uint32_t ctas : {1U, 2U})
    for (std::uint32_t stages = 1; stages <= 4; ++stages)
      for (const std::uint32_t consumers : {1U, 128U, 255U}) {
        const std::uint32_t blocks = 2 * stages + 1;  // both parities, and one of them again
        const TensorMapSpec map = map_of(DataType::bf16, {std::uint64_t{64} * blocks, height},
                                         {64, height / ctas}, Swizzle::b128);
        rows.emplace_back(program_of({map, stages, blocks, consumers, ctas}));
      }
  return rows;
}

const Register kCase{{
    .name = "scenario.tirx.stage_ring",
    .claim = "a stage is read when its bytes are there, and loaded again when the last of its "
             "consumers has released it",
    .cites = "PTX ISA 9.0, 9.7.13.15.6 phase completion; TIRx book, Why TMA Matters for "
             "Pipelining; Croqtile manual, the events full and empty",
    .rows = rows,
}};

}  // namespace
}  // namespace tidemark::suite
